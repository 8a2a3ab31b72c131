import { manyNodes } from './many-nodes/story.ts'

manyNodes(15)
