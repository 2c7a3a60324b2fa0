/**
 * Containers that one project, one run of a job and one person may ask for at once; a bridge of the
 * kernel has room for a few more, and a swarm that is asked for a million tasks answers nobody any more.
 */
export const MOST_CONTAINERS = 1000;
