import { registersHostile } from './hostile-wsdl/story.ts'

registersHostile(['unions of two unions, thirty deep', 'a chain of 30,000 groups'])
