// The file beside this one, as source or built.
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'

/** The file that does the tasks of `tasks.ts`. */
export const TASKS_ENTRY = new URL(`./main.${extension}`, import.meta.url)
