import { packageVersion } from '../config.ts'
import { openapiDocument } from '../http/openapi.ts'
import { ADMIN_PREFIX, type AdminRoute } from './route.ts'
import { ADMIN_ROUTES } from './routes.ts'

/** The admin API as OpenAPI 3.1. */
export function adminOpenapi() {
  const sections: ReadonlyArray<readonly [tag: string, routes: readonly AdminRoute[]]> = Object.entries(ADMIN_ROUTES)
  return openapiDocument({
    title: 'Souk admin API',
    version: packageVersion(),
    description:
      'Manages a node, for programs on its own machine. Amounts are decimal strings in USDC, times milliseconds since the epoch.',
    server: ADMIN_PREFIX,
    securitySchemes: {
      token: { type: 'http', scheme: 'bearer', description: 'The token in the file admin.token of the profile.' }
    },
    operations: sections.flatMap(([tag, routes]) => routes.map((each) => ({ ...each, tag, security: [{ token: [] }] })))
  })
}
