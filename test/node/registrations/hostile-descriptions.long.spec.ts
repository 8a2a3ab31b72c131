import { hostileDescriptions } from './hostile-descriptions-story.ts'

hostileDescriptions(() => true)
