import { killedWhilePaid } from './killed-while-paid/story.ts'

killedWhilePaid(2)
