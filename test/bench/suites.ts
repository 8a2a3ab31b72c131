import { callPath } from './call-path.ts'
import type { Suite } from './suite.ts'

/** What `npm run bench` runs when nobody says. */
export const DEFAULT_SUITES = ['path']

/** Name on the command line → suite. */
export const SUITES: ReadonlyMap<string, Suite> = new Map([callPath].map((suite) => [suite.name, suite]))
