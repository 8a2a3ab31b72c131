import { taskWorker } from './task-worker-story.ts'

taskWorker({ memory: ['objects', 'array', 'map'], endless: ['loop', 'backtrack', 'sleep'] })
