import { hostileDescriptions } from './hostile-descriptions-story.ts'

/** Cases that take seconds of CPU time each, so `hostile-descriptions.long.spec.ts` runs them. */
const SLOW = new Set([
  'a million brackets',
  'seventeen megabytes',
  '5,000 operations',
  'forty schemas of two alternatives each',
  'alternatives at each of 50 levels',
  '20,000 schemas in a row',
  'an enum of 200,000',
  '50,000 properties',
  '300,000 fields',
  'a million comments',
  'five megabytes',
  'a union of 6,000 types'
])

hostileDescriptions((what) => !SLOW.has(what))
