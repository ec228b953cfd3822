/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "dwcs_arguments.h"

#include "event_rules.h"
#include "shown_value.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

int dwcs_argument_count(const char *arg, const char *name, int least, int most, struct argp_state *state)
{
    char *end;
    const long value = strtol(arg, &end, 10);
    if (end == arg || *end || value < least || value > most)
        argp_error(state, "--%s=%s is not a whole number from %d to %d", name, shown_value(arg), least, most);
    return (int)value;
}

void dwcs_argument_name(struct named_task *task, const char *text, size_t length, struct argp_state *state)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    if (length == 0 || length >= TASK_NAME_SIZE || strspn(text, letters) < length)
        argp_error(state, "%s does not begin with a name of 1 to %d letters and digits", shown_value(text), TASK_NAME_SIZE - 1);
    memcpy(task->name, text, length);
    task->name[length] = 0;
}

/*
 * Parses a whole number that this character follows, and moves *text past both. A number beyond the range of int becomes the nearest
 * int, which is out of each argument's range, too. Returns false if there is no such number.
 */
static bool take_number(const char **text, char end, int *number)
{
    char *rest;
    const long value = strtol(*text, &rest, 10);
    if (rest == *text || *rest != end)
        return false;
    *number = value < INT_MIN ? INT_MIN : value > INT_MAX ? INT_MAX : (int)value;
    *text = rest + (end != '\0');
    return true;
}

void dwcs_argument_task(struct named_task *task, const char *arg, int64_t slot_ns, struct argp_state *state)
{
    const size_t length = strcspn(arg, ",");
    const char *const last = strrchr(arg, ',');
    const bool is_work_conserving = last && !strcmp(last, ",wc");
    const char *rest = arg + length + (arg[length] == ',');
    int x = 0, y = 0, period = 0, service = 0;
    const bool is_task = take_number(&rest, '/', &x) && take_number(&rest, ',', &y) && take_number(&rest, ',', &period) &&
                         take_number(&rest, is_work_conserving ? ',' : '\0', &service);
    if (!is_task || (is_work_conserving && strcmp(rest, "wc")))
        argp_error(state, "--task=%s is not a task such as film,1/4,2,1", shown_value(arg));
    if (service < 1 || service > period || period > TASK_SLOTS_MAX || x < 0 || x > y || y > DWCS_Y_MAX)
        argp_error(state, "--task=%s: needs 1 <= C <= T <= %d and 0 <= X <= Y <= %d", shown_value(arg), TASK_SLOTS_MAX, DWCS_Y_MAX);
    *task = (struct named_task){.params = {
        .period_ns = period * slot_ns, .service_ns = service * slot_ns, .x = x, .y = y, .is_work_conserving = is_work_conserving,
    }};
    dwcs_argument_name(task, arg, length, state);
}

unsigned dwcs_argument_rules(const char *arg, struct argp_state *state)
{
    unsigned rules = 0;
    for (const char *at = arg; *at; at += at[1] ? 2 : 1) {
        if (*at < '1' || *at > '5' || (at[1] && (at[1] != ',' || !at[2])))
            argp_error(state, "--rules=%s is not a list such as 1,2", shown_value(arg));
        rules |= 1u << (*at - '0');
    }
    return rules;
}

unsigned dwcs_argument_rule_4(const char *arg, struct argp_state *state)
{
    if (!strcmp(arg, "strict"))
        return EVENT_RULE_4_STRICT;
    if (!strcmp(arg, "safe"))
        return EVENT_RULE_4_SAFE;
    if (strcmp(arg, "paper"))
        argp_error(state, "--rule-4=%s is unknown; it is paper, strict or safe", shown_value(arg));
    return 0;
}

void dwcs_argument_server(struct dwcs_server_options *server, const char *arg, struct argp_state *state)
{
    const char *rest = arg;
    if (!take_number(&rest, '/', &server->x) || !take_number(&rest, '\0', &server->y))
        argp_error(state, "--server=%s is not a window constraint such as 0/5", shown_value(arg));
    if (server->x < 0 || server->x > server->y || server->y < 1 || server->y > DWCS_Y_MAX)
        argp_error(state, "--server=%s: needs 0 <= X <= Y and 1 <= Y <= %d", shown_value(arg), DWCS_Y_MAX);
}
