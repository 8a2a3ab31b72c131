// This file's neighbour, as source or built.
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'

/** The entry file of the worker process for `tasks.ts`. */
export const TASKS_ENTRY = new URL(`./main.${extension}`, import.meta.url)
