import { findsNothingWrong } from './seeds.ts'

describe('the simulator, at length', () => {
  findsNothingWrong(201, 2_000)
})
