import { DESCRIPTION_IDLE_MS } from '../../../lib/base/limits/descriptions.ts'
import { CALL_CHECK_HEAP_MIB_MAX, CALL_CHECK_MS, CALL_CHECKS_WAITING_MAX } from '../../../lib/base/limits/rest.ts'
import { TASKS_ENTRY } from '../../description-worker/entry.ts'
import { TaskWorker } from '../../description-worker/task-worker.ts'
import type { TASKS } from '../../description-worker/tasks.ts'

/** Checks slow calls. It is separate from the description worker, so that calls do not wait for descriptions. */
export const checkWorker = new TaskWorker<typeof TASKS>({
  entry: TASKS_ENTRY,
  doing: 'Checking the call against the description of the API',
  taskMs: CALL_CHECK_MS,
  heapMib: CALL_CHECK_HEAP_MIB_MAX,
  waitingMax: CALL_CHECKS_WAITING_MAX,
  idleMs: DESCRIPTION_IDLE_MS
})
