import {
  DESCRIPTION_HEAP_MIB_MAX,
  DESCRIPTION_IDLE_MS,
  DESCRIPTION_READ_MS,
  DESCRIPTIONS_WAITING_MAX
} from '../../lib/base/limits/descriptions.ts'
import { TASKS_ENTRY } from './entry.ts'
import { TaskWorker } from './task-worker.ts'
import type { TASKS } from './tasks.ts'

/** Reads all descriptions of this process, one after the other, because the memory limit is for the machine. */
export const descriptionWorker = new TaskWorker<typeof TASKS>({
  entry: TASKS_ENTRY,
  doing: 'Reading the description',
  taskMs: DESCRIPTION_READ_MS,
  heapMib: DESCRIPTION_HEAP_MIB_MAX,
  waitingMax: DESCRIPTIONS_WAITING_MAX,
  idleMs: DESCRIPTION_IDLE_MS
})
