/**
 * Most containers that a project, a run of a job or a person may ask for at once. A kernel bridge
 * has room for little more, and a swarm that is asked for a million tasks stops answering.
 */
export const MOST_CONTAINERS = 1000;
