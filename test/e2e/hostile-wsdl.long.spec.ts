import { registersHostile } from './hostile-wsdl/story.ts'

registersHostile([
  'unions of two unions, thirty deep',
  'a group of 1,000 elements in 2,000 types',
  '8,000 operations, bound at 3,000 ports',
  'an enumeration of 60,000 values, of 500 elements',
  '3,000 patterns of 900 steps',
  'a chain of 30,000 groups'
])
