/** Limits: Names and texts. */

/** Length of a DNS label. Pattern: `[a-z0-9][a-z0-9-]{0,62}`. */
export const API_NAME_CHARS_MAX = 63
/** Description of a listing. */
export const DESCRIPTION_CHARS_MAX = 2_000
/** Tags of a listing. */
export const TAGS_MAX = 16
/** One tag. */
export const TAG_CHARS_MAX = 32
/** Operations of one listing. The largest known public WSDL has 1,500. */
export const OPERATIONS_MAX = 2_000
