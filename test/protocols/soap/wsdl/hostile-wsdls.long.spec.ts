import { endsWithinLimits } from './hostile-wsdls-story.ts'
import { HOSTILE } from './hostile-wsdls.ts'

describe('every hostile WSDL', () => endsWithinLimits(Object.keys(HOSTILE)))
