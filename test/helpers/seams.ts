/** Restricted access to time, randomness, the process, sockets, libp2p streams and the environment. */

import { type Rule, under, type Violation } from './layers.ts'
import type { Source } from './scan.ts'

/** A banned import: a pattern for the specifier, the banned names (all if absent), and the exempt files. */
interface Ban {
  specifier: RegExp
  names?: RegExp
  within: string
  except: string[]
  why: string
}

const TIME_SEAM = ['lib/base/clock.ts']
const RANDOM_SEAM = ['lib/base/random.ts']
const RANDOM = /^(random(Bytes|Fill|FillSync|Int|UUID|UUIDv7)|getRandomValues|webcrypto)$/
const BANS: Ban[] = [
  {
    specifier: /^(node:)?(net|https?|http2|dgram|tls|cluster)$|^(fastify|ws)$|^@fastify\//,
    within: 'lib/',
    // A list of addresses, without a socket; dialled WebSockets, and those on connections of libp2p's TCP listener.
    except: ['lib/link/public-addresses.ts', 'lib/link/websocket/'],
    why: 'lib/ opens no listening socket'
  },
  {
    specifier: /^(node:)?(process|console)$/,
    within: 'lib/',
    except: [],
    why: 'lib/ runs inside somebody else’s process'
  },
  {
    specifier: /^(node:)?(timers(\/promises)?|perf_hooks)$/,
    within: 'lib/',
    except: TIME_SEAM,
    why: 'time enters through lib/base/clock.ts'
  },
  {
    specifier: /^(node:)?crypto$|^@libp2p\/crypto(\/|$)|^@noble\//,
    names: RANDOM,
    within: 'lib/',
    except: RANDOM_SEAM,
    why: 'randomness enters through lib/base/random.ts'
  },
  {
    specifier:
      /^it-(length-prefixed|length-prefixed-stream|protobuf-stream|byte-stream|pushable)$|^@libp2p\/utils(\/|$)/,
    within: 'lib/',
    except: ['lib/link/', 'lib/testing/'],
    why: 'only lib/link/ knows libp2p streams'
  },
  {
    specifier: /^@libp2p\/interface$/,
    names: /^(Message)?Stream$|^Stream(Handler|Middleware|Message|Close|Abort|Reset)/,
    within: 'lib/',
    except: ['lib/link/', 'lib/testing/'],
    why: 'only lib/link/ knows libp2p streams'
  },
  {
    specifier: /^(node:)?process$/,
    names: /^env$/,
    within: '',
    except: ['node/config.ts', 'test/', 'docs/', '.ci/'],
    why: 'node/config.ts is the only reader of process.env'
  }
]

/** Globals that lib/ must not use. A dotted name bans only that property. */
const GLOBALS: { names: string[]; except: string[]; why: string }[] = [
  {
    names: ['process', 'console', 'global', 'globalThis'],
    except: [],
    why: 'lib/ runs inside somebody else’s process'
  },
  {
    names: ['Date', 'performance', 'setTimeout', 'setInterval', 'setImmediate', 'AbortSignal.timeout', 'Temporal.Now'],
    except: TIME_SEAM,
    why: 'time enters through lib/base/clock.ts'
  },
  {
    names: ['Math.random', 'crypto.getRandomValues', 'crypto.randomUUID', 'webcrypto'],
    except: RANDOM_SEAM,
    why: 'randomness enters through lib/base/random.ts'
  }
]

export const seams: Rule = (sources) => {
  const violations: Violation[] = []
  for (const source of sources.values()) {
    const add = (line: number, message: string) => violations.push({ rule: 'seams', file: source.path, line, message })
    for (const imported of source.imports) {
      for (const ban of BANS) {
        if (!under(source.path, [ban.within]) || under(source.path, ban.except)) continue
        if (!ban.specifier.test(imported.specifier ?? '')) continue
        const name = imported.names.find((candidate) => ban.names?.test(candidate) ?? true)
        if (ban.names !== undefined && name === undefined) continue
        add(
          imported.line,
          `imports ${ban.names === undefined ? '' : `${name} from `}'${imported.specifier}', but ${ban.why}`
        )
      }
    }
    if (under(source.path, ['lib/'])) for (const { line, message } of bannedGlobals(source)) add(line, message)
    if (under(source.path, ['lib/', 'protocols/', 'node/']) && source.path !== 'node/config.ts') {
      for (const line of environmentReads(source)) add(line, 'reads process.env, but node/config.ts is its only reader')
    }
  }
  return violations
}

function* bannedGlobals(source: Source): Iterable<{ line: number; message: string }> {
  for (const [i, token] of source.tokens.entries()) {
    if (token.kind !== 'word' || !isReference(source, i)) continue
    const member = source.tokens[i + 1]?.text === '.' ? `${token.text}.${source.tokens[i + 2]?.text}` : ''
    for (const { names, except, why } of GLOBALS) {
      if (under(source.path, except)) continue
      const name = names.find((candidate) => candidate === token.text || candidate === member)
      if (name !== undefined) yield { line: token.line, message: `uses ${name}, but ${why}` }
    }
  }
}

/** True if a word is a variable, and not a property, a key of an object or interface, or a method's declaration. */
function isReference({ tokens }: Source, i: number): boolean {
  const before = tokens[i - 1]?.text
  const after = tokens[i + 1]?.text
  if (before === '.' || before === '?.') return false
  if (before === '?') return true
  if (after === ':' || (after === '?' && tokens[i + 2]?.text === ':')) return false
  if (after !== '(' || before === 'new') return true
  let depth = 0
  for (let at = i + 1; at < tokens.length; at++) {
    if (tokens[at]?.kind !== 'punctuation') continue
    if (tokens[at]?.text === '(') depth++
    if (tokens[at]?.text === ')' && --depth === 0) return ![':', '{'].includes(tokens[at + 1]?.text ?? '')
  }
  return true
}

function* environmentReads({ tokens }: Source): Iterable<number> {
  for (const [i, token] of tokens.entries()) {
    if (token.kind !== 'word' || token.text !== 'process') continue
    const [second, third] = [tokens[i + 1]?.text ?? '', tokens[i + 2]?.text]
    const destructured = tokens[i - 1]?.text === '=' && tokens[i - 2]?.text === '}' && second !== '.'
    if ((['.', '?.', '['].includes(second) && third === 'env') || destructured) yield token.line
  }
}
