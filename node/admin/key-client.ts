import type { IssuedKeyView, IssueKeyInput, KeysView, KeyView, RotateKeyInput } from './key-api.ts'

/** Consumer keys of a node's ingress. One method per route; throws as `AdminClient`. */
export interface KeyClient {
  issueKey(input: IssueKeyInput): Promise<IssuedKeyView>
  keys(): Promise<KeysView>
  key(id: string): Promise<KeyView>
  rotateKey(id: string, input: RotateKeyInput): Promise<IssuedKeyView>
  disableKey(id: string): Promise<KeyView>
  enableKey(id: string): Promise<KeyView>
  revokeKey(id: string): Promise<KeyView>
}

export function keyClient(json: <T>(method: string, path: string, body?: unknown) => Promise<T>): KeyClient {
  const path = (id: string) => `/keys/${encodeURIComponent(id)}`
  return {
    issueKey: (input) => json('POST', '/keys', input),
    keys: () => json('GET', '/keys'),
    key: (id) => json('GET', path(id)),
    rotateKey: (id, input) => json('POST', `${path(id)}/rotate`, input),
    disableKey: (id) => json('POST', `${path(id)}/disable`),
    enableKey: (id) => json('POST', `${path(id)}/enable`),
    revokeKey: (id) => json('DELETE', path(id))
  }
}
