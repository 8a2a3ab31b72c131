import type { JsonSchema } from '../../../lib/interface/index.ts'
import { declarationsOf } from '../../../node/types/declarations.ts'

type Listing = Parameters<typeof declarationsOf>[0]

export const listing = (changes: Partial<Listing>): Listing => ({
  id: 'weather@12D3KooW',
  name: 'weather',
  protocol: 'REST',
  revision: 3,
  operations: [],
  definitions: {},
  sdl: null,
  ...changes
})
export const sourceOf = async (changes: Partial<Listing>) => (await declarationsOf(listing(changes))).source
export const ofSchema = (input: JsonSchema, definitions = {}) =>
  sourceOf({ operations: [{ name: 'call' }, { name: 'x', input }], definitions })
