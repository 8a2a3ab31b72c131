import { taskWorker } from './task-worker-story.ts'

taskWorker({ memory: ['array'], endless: ['loop'] })
