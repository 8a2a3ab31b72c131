/**
 * What is done in a process of its own, by name. A task takes and gives values that can be cloned (`structuredClone`), and is loaded
 * when it is first asked for.
 */
export const TASKS = {
  importOpenapi: async () => (await import('../rest/openapi-import.ts')).importOpenapi
}
