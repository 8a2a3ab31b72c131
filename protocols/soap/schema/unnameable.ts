import type { AtomicType } from './model.ts'
import { NO_FACETS } from './model.ts'

/** A colon, white space or punctuation of ASCII, or a start that is none of a name (Namespaces in XML, section 3). */
const NOT_NCNAME = /[\s!-,/:-@[-^`{-~]|^[\d.-]/

/** True if XML does not allow an element or attribute with this local name. */
export function isUnnameable(name: string): boolean {
  return NOT_NCNAME.test(name)
}

export const UNNAMEABLE_WARNING = 'has a name that XML does not allow: requests cannot have it'

/** The type of whatever cannot be named: no request can have a value of it. */
export const UNNAMEABLE: AtomicType = {
  kind: 'atomic',
  name: undefined,
  builtin: {
    name: 'unnameable',
    whitespace: 'preserve',
    write: () => undefined,
    read: (text) => text,
    expects: 'left out: XML does not allow its name',
    schema: { type: 'string' },
    sent: { not: {} },
    numeric: false
  },
  facets: NO_FACETS
}
