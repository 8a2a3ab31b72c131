/**
 * Loaded first, this adds the protocol `Shout` to this process in the way an author would add it to the repository: one line in
 * each of the two lists, with its import.
 */
import { registerHooks } from 'node:module'

const SHOUT = '../test/protocols/new-protocol/shout'

const LINES: Readonly<Record<string, readonly [importing: string, behind: string, line: string]>> = {
  'protocols/protocol-descriptors.ts': [
    `import { shoutDescriptor } from '${SHOUT}/shout-descriptor.ts'`,
    '  soapDescriptor,',
    '  shoutDescriptor,'
  ],
  'protocols/protocol-factories.ts': [
    `import { shoutFactory } from '${SHOUT}/shout-factory.ts'`,
    "  SOAP: async () => (await import('./soap/soap-factory.ts')).soapFactory,",
    '  Shout: async () => shoutFactory,'
  ]
}

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    const [, added] = Object.entries(LINES).find(([path]) => url.endsWith(`/${path}`)) ?? []
    if (added === undefined) return loaded
    const [importing, behind, line] = added
    const source = new TextDecoder().decode(loaded.source as Uint8Array)
    if (!source.includes(behind)) throw new Error(`${url} has no line ${behind}`)
    return { ...loaded, source: `${importing}\n${source.replace(behind, `${behind}\n${line}`)}` }
  }
})
