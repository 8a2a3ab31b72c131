import { findsNothingWrong } from './seeds.ts'

describe('the simulator with many seeds', () => {
  findsNothingWrong(201, 1_200)
})
