import { DESCRIPTION_IDLE_MS } from '../../lib/base/limits/descriptions.ts'
import {
  GRAPHQL_INTROSPECTION_HEAP_MIB_MAX,
  GRAPHQL_INTROSPECTION_MS,
  GRAPHQL_INTROSPECTIONS_WAITING_MAX
} from '../../lib/base/limits/graphql.ts'
import { Slots } from '../../lib/base/slots.ts'
import { TASKS_ENTRY } from '../description-worker/entry.ts'
import { TaskWorker } from '../description-worker/task-worker.ts'
import type { TASKS } from '../description-worker/tasks.ts'
import type { SchemaQuestion } from './own-introspection.ts'

/** Separate from the description worker, so that descriptions do not wait for calls. */
const introspectionWorker = new TaskWorker<typeof TASKS>({
  entry: TASKS_ENTRY,
  doing: 'Answering the introspection',
  taskMs: GRAPHQL_INTROSPECTION_MS,
  heapMib: GRAPHQL_INTROSPECTION_HEAP_MIB_MAX,
  waitingMax: GRAPHQL_INTROSPECTIONS_WAITING_MAX,
  idleMs: DESCRIPTION_IDLE_MS
})

/** Answers the introspection of one API. @throws SoukError those of `introspect` and `TaskWorker.run` */
export type OwnIntrospection = (question: SchemaQuestion, signal: AbortSignal) => Promise<string>

export function ownIntrospection(): OwnIntrospection {
  // One at a time, so that the callers of one API cannot occupy the process that all APIs share.
  const turn = new Slots(1)
  return async (question, signal) => {
    const leave = await turn.enter(signal)
    try {
      return await introspectionWorker.run('introspect', question, signal)
    } finally {
      leave()
    }
  }
}
