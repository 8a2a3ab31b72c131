import { z } from 'zod'
import { limits } from '../../../lib/index.ts'
import { UPSTREAM_METHODS } from '../../../lib/interface/index.ts'
import type { AskedUpstream } from '../../upstream/credential-store.ts'
import { graphqlSchema, graphqlTermsOf } from './graphql-input.ts'
import { present } from '../../present.ts'
import { wsdlOf, wsdlSchema } from './wsdl-input.ts'

const httpUrl = z
  .string()
  .refine((text) => !/^wss?:/i.test(text), 'WebSocket endpoints are not supported: give an http: or https: URL')
  .refine((text) => /^https?:$/.test(URL.parse(text)?.protocol ?? ''), 'give an http: or https: URL')
const text = z.string().min(1)
const names = z.array(text).max(limits.EXTRA_HEADERS_MAX)

/** Credentials for an upstream. They are write-only: no response contains them. */
const authSchema = z.strictObject({
  headers: z.record(text, text).optional(),
  query: z.record(text, text).optional(),
  basic: z.strictObject({ username: text, password: z.string() }).optional(),
  bearer: text.optional(),
  username_token: z.strictObject({ username: text, password: z.string(), digest: z.boolean().optional() }).optional(),
  soap_headers: z.record(text, z.json()).optional(),
  oauth2: z
    .strictObject({
      token_url: httpUrl,
      client_id: text,
      client_secret: text,
      scope: text.optional(),
      audience: text.optional(),
      send_as: z.enum(['basic', 'body']).optional()
    })
    .optional(),
  tls: z
    .strictObject({ cert: text.optional(), key: text.optional(), passphrase: text.optional(), ca: text.optional() })
    .optional()
    .describe('PEM texts.')
})

/** Members of a registration that describe the upstream and how to call it. */
export const upstreamShape = {
  endpoint: httpUrl,
  timeout_ms: z.int().min(1).max(limits.UPSTREAM_TIMEOUT_MS_MAX).optional(),
  in_flight_max: z.int().min(1).max(limits.IN_FLIGHT_PER_API_MAX).optional(),
  method: z.enum(UPSTREAM_METHODS).optional(),
  auth: authSchema
    .nullable()
    .optional()
    .describe('Null: no credentials. Absent: the stored credentials, if the origin is the same.'),
  explicit: z.boolean().optional(),
  openapi: z
    .union([
      z.strictObject({ url: httpUrl }),
      z.strictObject({ text }),
      z.strictObject({ zip: text, entry: text.optional() })
    ])
    .optional()
    .describe('The document: its URL, its text, or a zip with all of its files in base64.'),
  servers: names
    .optional()
    .describe('Further origins of operations that the document places elsewhere. They get the credentials too.'),
  request_cookies: names.optional().describe('Cookies that operations of the document may send.'),
  collect: z
    .strictObject({
      max_events: z.int().min(1).max(limits.SSE_EVENTS_MAX),
      max_ms: z.int().min(1).max(limits.SSE_COLLECT_MS_MAX)
    })
    .optional(),
  request_headers: names.optional(),
  response_headers: names.optional(),
  health_path: text.optional(),
  wsdl: wsdlSchema.optional(),
  graphql: graphqlSchema.optional()
}

type UpstreamInput = z.output<z.ZodObject<typeof upstreamShape>>

/** @param idempotent - as the listing declares. Only idempotent requests are retried. */
export function upstreamOf(input: UpstreamInput, idempotent?: boolean): AskedUpstream {
  const { auth, collect } = input
  return present({
    endpoint: input.endpoint,
    timeoutMs: input.timeout_ms,
    inFlightMax: input.in_flight_max,
    idempotent,
    method: input.method,
    explicit: input.explicit,
    openapi: input.openapi,
    collect: collect === undefined ? undefined : { maxEvents: collect.max_events, maxMs: collect.max_ms },
    servers: input.servers,
    requestCookies: input.request_cookies,
    requestHeaders: input.request_headers,
    responseHeaders: input.response_headers,
    healthPath: input.health_path,
    wsdl: wsdlOf(input.wsdl),
    graphql: input.graphql === undefined ? undefined : graphqlTermsOf(input.graphql),
    auth: auth === undefined || auth === null ? auth : authOf(auth)
  })
}

function authOf({
  oauth2,
  tls,
  username_token,
  soap_headers,
  ...rest
}: z.output<typeof authSchema>): NonNullable<AskedUpstream['auth']> {
  return present({
    ...present(rest),
    tls: tls === undefined ? undefined : present(tls),
    usernameToken: username_token === undefined ? undefined : present(username_token),
    soapHeaders: soap_headers,
    oauth2:
      oauth2 === undefined
        ? undefined
        : present({
            tokenUrl: oauth2.token_url,
            clientId: oauth2.client_id,
            clientSecret: oauth2.client_secret,
            scope: oauth2.scope,
            audience: oauth2.audience,
            sendAs: oauth2.send_as
          })
  })
}
