import { z } from 'zod'

/** Any JSON. `z.json()` would copy the value, and lose the digits of its numbers. */
export const callBody = z.custom<z.core.util.JSONType>((value) => value !== undefined, 'required')
