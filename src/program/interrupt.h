// Ctrl-C as a flag that loops check between batches, so that output ends with a whole line.
#pragma once

namespace deberta::program {

// SIGINT, SIGTERM and SIGHUP set a flag; the second one ends the program at once. SIGPIPE and SIGXFSZ are ignored.
void install_signal_handlers();

// From now on this signal asks for something (SIGUSR1: a save, SIGHUP: the models anew) instead of ending the program;
// a read that it interrupts goes on.
void watch_signal(int number);

// Whether this signal, which is watched, arrived since the last call.
bool take_watched_signal(int number);

// 0, or 128 + the signal that arrived.
int interrupted();

// The signal was what ended the work, as it should: the program ends as if there had been none.
void answer_interrupt();

// What check_interrupted() throws after a signal, for jobs that must clean up on the way out.
struct Interrupted {};
void check_interrupted();

}  // namespace deberta::program
