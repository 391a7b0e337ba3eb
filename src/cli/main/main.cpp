// The program: everything is in cli/.
int main() { return 0; }
