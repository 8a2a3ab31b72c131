/** Small repositories with one planted violation each, and some without, for the rules of `test/tidy.spec.ts`. */

import { fileLength, focused, unfinished } from './habits.ts'
import { barrels, cycles, layers, type Rule, rooms } from './layers.ts'
import { seams } from './seams.ts'

/** Without a message, the rule must find no violation. */
type Planted = [what: string, rule: Rule, files: Record<string, string>, message: RegExp | undefined]

export const planted: Planted[] = [
  // lib/: the areas
  [
    'an area that imports an area',
    layers,
    { 'lib/call/a.ts': `import { b } from '../pay/b.ts'` },
    /imports lib\/pay\/b/
  ],
  [
    'an area that imports a type of an area',
    layers,
    { 'lib/call/a.ts': `import type { B } from '../pay/b.ts'` },
    /lib\/pay/
  ],
  ['an area that re-exports an area', layers, { 'lib/call/a.ts': `export * from '../pay/b.ts'` }, /imports lib\/pay/],
  ['an area that loads an area', layers, { 'lib/call/a.ts': `await import('../pay/b.ts')` }, /imports lib\/pay/],
  [
    'an area that starts a worker of an area',
    layers,
    { 'lib/call/a.ts': `new URL('../pay/b.ts', import.meta.url)` },
    /pay/
  ],
  [
    'an import over several lines',
    layers,
    { 'lib/call/a.ts': `import {\n  b, // c\n} from\n  "../pay/b.ts"` },
    /imports lib\/pay/
  ],
  [
    'a room that imports a later one',
    rooms,
    { 'lib/pay/payee/a.ts': `import { b } from '../payer/b.ts'` },
    /is built in this order/
  ],
  [
    'a room that imports a type of a later one',
    rooms,
    { 'protocols/soap/xml/a.ts': `import type { B } from '../schema/b.ts'` },
    /imports protocols\/soap\/schema\/b\.ts, but .* order: xml, schema/
  ],
  [
    'a room that imports a file beside the rooms',
    rooms,
    { 'lib/resolve/directory/a.ts': `import { b } from '../b.ts'` },
    /is built in this order/
  ],
  [
    'a store that imports one that is built on it',
    rooms,
    { 'lib/store/sqlite/a.ts': `import { b } from '../memory/b.ts'` },
    /order: postgres, sqlite, memory/
  ],
  [
    'rooms that import what is below them',
    rooms,
    {
      'lib/store/sqlite/a.ts': `import '../page.ts'\nimport './b.ts'`,
      'protocols/soap/message/a.ts': `import '../xml/a.ts'`,
      'protocols/soap/a.ts': `import './message/a.ts'`
    },
    undefined
  ],
  ['a computed import', layers, { 'lib/call/a.ts': 'await import(`../${area}/b.ts`)' }, /computed path/],
  ['an absolute import', layers, { 'lib/call/a.ts': `import '/lib/pay/b.ts'` }, /relative path/],
  ['an import of the package by its name', layers, { 'lib/call/a.ts': `import { b } from 'souk'` }, /imports itself/],
  [
    'an unknown import of the package',
    layers,
    { 'lib/call/a.ts': `import { b } from 'souk/lib/pay/b.ts'` },
    /relative path/
  ],
  [
    'base that imports a contract',
    layers,
    { 'lib/base/a.ts': `import type { Link } from '../interface/link.ts'` },
    /base\//
  ],
  [
    'a contract that imports an area',
    layers,
    { 'lib/interface/a.ts': `import type { B } from '../pay/b.ts'` },
    /contracts/
  ],
  ['options that run an area', layers, { 'lib/options.ts': `import { b } from './pay/b.ts'` }, /not run them/],
  ['a file beside the areas', layers, { 'lib/helpers.ts': '' }, /stand outside an area/],
  [
    'an area that imports the wiring',
    layers,
    { 'lib/call/a.ts': `import { souk } from '../service.ts'` },
    /lib\/service/
  ],
  [
    'wiring that imports test helpers',
    layers,
    { 'lib/service.ts': `import { t } from './testing/t.ts'` },
    /lib\/testing/
  ],
  [
    'testing that imports an area',
    layers,
    { 'lib/testing/a.ts': `import { b } from '../pay/b.ts'` },
    /imports lib\/pay/
  ],
  [
    'lib that imports the node',
    layers,
    { 'lib/service.ts': `import { run } from '../node/run.ts'` },
    /imports node\/run/
  ],
  [
    'lib that imports tests',
    layers,
    { 'lib/call/a.ts': `import { t } from '../../test/helpers/t.ts'` },
    /imports test/
  ],
  [
    'an area with allowed imports',
    layers,
    {
      'lib/call/a.ts': `import './b.ts'\nimport { e } from '../base/e.ts'\nimport type { L } from '../interface/l.ts'\nimport 'undici'`,
      'lib/service.ts': `import { a } from './call/a.ts'\nimport type { O } from './options.ts'`,
      'lib/options.ts': `import type { B } from './pay/b.ts'`
    },
    undefined
  ],
  [
    'prose about imports',
    layers,
    {
      'lib/call/a.ts': `// import { b } from '../pay/b.ts'\nconst text = "import '../pay/b.ts'"\nconst r = /import '..\\/pay'/\nconst t = \`import '../pay/b.ts' \${ text }\``
    },
    undefined
  ],

  // protocols/ and node/
  [
    'an adapter that imports the library',
    layers,
    { 'protocols/rest/a.ts': `import { x } from '../../lib/index.ts'` },
    /contracts/
  ],
  [
    'an adapter that imports an area',
    layers,
    { 'protocols/rest/a.ts': `import { x } from '../../lib/call/x.ts'` },
    /lib\/call/
  ],
  ['the node that imports an area', layers, { 'node/run.ts': `import { x } from '../lib/pay/x.ts'` }, /public faces/],
  ['the node that imports base', layers, { 'node/run.ts': `import { x } from '../lib/base/x.ts'` }, /public faces/],
  [
    'the node that imports one adapter',
    layers,
    { 'node/run.ts': `import { x } from '../protocols/rest/x.ts'` },
    /public faces/
  ],
  [
    'the CLI that imports the ingress',
    layers,
    { 'node/cli/a.ts': `import { x } from '../ingress/x.ts'` },
    /clients of the admin/
  ],
  [
    'the CLI that runs the library',
    layers,
    { 'node/cli/a.ts': `import { x } from '../../lib/index.ts'` },
    /clients of the admin/
  ],
  [
    'the console that imports the CLI',
    layers,
    { 'node/console/a.ts': `import { x } from '../cli/x.ts'` },
    /clients of/
  ],
  ['a command that loads the node', layers, { 'node/cli/list.ts': `await import('../run.ts')` }, /clients of/],
  [
    'up that imports the node eagerly',
    layers,
    { 'node/cli/node/up-command.ts': `import { run } from '../../run.ts'` },
    /lazily/
  ],
  [
    'node/ with allowed imports',
    layers,
    {
      'node/run.ts': `import '../lib/index.ts'\nimport type { A } from '../lib/interface/index.ts'\nimport '../protocols/protocol-factories.ts'\nconst { a } = await import('../protocols/index.ts')`,
      'node/cli/node/up-command.ts': `import '../../config.ts'\nimport { client } from '../../admin/client.ts'\nconst { run } = await import('../../run.ts')`,
      'node/main.ts': `import './cli/program.ts'`,
      'docs/examples/a.ts': `import { souk } from 'souk'`
    },
    undefined
  ],
  [
    'a client that runs the library',
    layers,
    { 'client/a.ts': `import { x } from '../lib/base/errors.ts'` },
    /browsers/
  ],
  ['an example that reaches inside', layers, { 'docs/a.ts': `import { x } from '../lib/pay/x.ts'` }, /examples use/],
  ['a stray source folder', layers, { 'src/a.ts': '' }, /stands in no layer/],

  // seams
  ['lib that reads the clock', seams, { 'lib/call/a.ts': 'const now = Date.now()' }, /uses Date, .*clock\.ts/],
  ['lib that makes a date', seams, { 'lib/call/a.ts': 'new Date(5)' }, /uses Date/],
  ['lib that sets a timer', seams, { 'lib/call/a.ts': 'setTimeout(() => {}, 5)' }, /uses setTimeout/],
  ['lib that sets a timer in a ternary', seams, { 'lib/call/a.ts': 'x ? setTimeout(f, 5) : y' }, /uses setTimeout/],
  [
    'lib that sets a timer in a template',
    seams,
    { 'lib/call/a.ts': 'const t = `${`${setTimeout(f)}`}`' },
    /uses setTimeout/
  ],
  [
    'lib that imports a timer',
    seams,
    { 'lib/call/a.ts': `import { setTimeout as x } from 'node:timers/promises'` },
    /clock\.ts/
  ],
  ['lib with a signal that times out', seams, { 'lib/call/a.ts': 'AbortSignal.timeout(5)' }, /AbortSignal\.timeout/],
  ['lib that logs', seams, { 'lib/call/a.ts': `console.log('x')` }, /uses console/],
  ['lib that reaches round the globals', seams, { 'lib/call/a.ts': 'globalThis.setTimeout(f)' }, /uses globalThis/],
  ['lib that throws dice', seams, { 'lib/call/a.ts': 'Math.random()' }, /uses Math\.random, .*random\.ts/],
  [
    'lib that imports dice',
    seams,
    { 'lib/call/a.ts': `import { randomBytes } from 'node:crypto'` },
    /randomBytes from/
  ],
  ['lib that reads process', seams, { 'lib/call/a.ts': 'process.pid' }, /uses process/],
  ['lib that listens', seams, { 'lib/link/a.ts': `import { createServer } from 'node:net'` }, /no listening socket/],
  ['lib that serves', seams, { 'lib/call/a.ts': `import fastify from 'fastify'` }, /no listening socket/],
  ['a body that is piped outside link', seams, { 'lib/call/a.ts': `import { pipe } from 'it-pipe'` }, undefined],
  ['streams outside link', seams, { 'lib/call/a.ts': `import { lpStream } from '@libp2p/utils'` }, /only lib\/link/],
  [
    'a stream type outside link',
    seams,
    { 'lib/call/a.ts': `import type { Stream } from '@libp2p/interface'` },
    /only lib\/link/
  ],
  ['a node file that reads the environment', seams, { 'node/run.ts': 'const { PORT } = process.env' }, /only reader/],
  ['a node file that takes the environment apart', seams, { 'node/run.ts': 'const { env } = process' }, /only reader/],
  [
    'an adapter that imports the environment',
    seams,
    { 'protocols/a.ts': `import { env } from 'node:process'` },
    /only reader/
  ],
  [
    'the seams themselves',
    seams,
    {
      'lib/base/clock.ts': 'Date.now(); setTimeout(f, 5); performance.now()',
      'lib/base/random.ts': `import { randomBytes } from 'node:crypto'; Math.random()`,
      'lib/link/a.ts': `import { lpStream } from '@libp2p/utils'\nimport type { Stream } from '@libp2p/interface'`,
      'node/config.ts': 'process.env.SOUK_HOME',
      'node/run.ts': `process.on('SIGTERM', stop); setTimeout(f, 5)`
    },
    undefined
  ],
  [
    'words that only look like globals',
    seams,
    {
      'lib/call/a.ts': `headers.Date; const t = { Date: 1, process: 2 }; interface C { setTimeout(f: () => void): void; process: string }
        class D { setTimeout(f) { this.process() } }; queueMicrotask(f); createHash('sha256'); 'Date.now()' // console.log`,
      'lib/call/b.ts': `import { createHash } from 'node:crypto'\nimport type { PeerId } from '@libp2p/interface'`
    },
    undefined
  ],

  // Other rules
  [
    'a cycle',
    cycles,
    {
      'lib/call/a.ts': `import './b.ts'`,
      'lib/call/b.ts': `import type { C } from './c.ts'`,
      'lib/call/c.ts': `export { a } from './a.ts'`
    },
    /lib\/call\/a\.ts → lib\/call\/b\.ts → lib\/call\/c\.ts → lib\/call\/a\.ts/
  ],
  [
    'a cycle in the console',
    cycles,
    {
      'node/console/parts/a.tsx': `const A = lazy(async () => import('./b.tsx'))\nexport const c = <p>it’s {'a'}</p>`,
      'node/console/parts/b.tsx': `import type { C } from './a.tsx'`
    },
    /a\.tsx → node\/console\/parts\/b\.tsx/
  ],
  ['a file that imports itself', cycles, { 'lib/call/a.ts': `import './a.ts'` }, /a\.ts → lib\/call\/a\.ts/],
  [
    'a cycle through the package’s name',
    cycles,
    {
      'lib/testing/index.ts': `import 'souk'`,
      'lib/index.ts': `export * from './testing/index.ts'`
    },
    /→/
  ],
  [
    'a diamond',
    cycles,
    { 'a.ts': `import './b.ts'; import './c.ts'`, 'b.ts': `import './c.ts'`, 'c.ts': '' },
    undefined
  ],
  ['a long file', fileLength, { 'lib/call/a.ts': 'x\n'.repeat(501) }, /501 lines/],
  ['a file just short enough', fileLength, { 'lib/call/a.ts': 'x\n'.repeat(500) }, undefined],
  ['a long generated file', fileLength, { 'lib/call/a.js': `/* @generated */${'x\n'.repeat(900)}` }, undefined],
  ['a barrel in an area', barrels, { 'lib/call/index.ts': '' }, /is a barrel/],
  [
    'a face that holds code',
    barrels,
    { 'lib/index.ts': `export * from './a.ts'\nexport const x = 1` },
    /only re-exports/
  ],
  [
    'a face of re-exports',
    barrels,
    {
      'lib/index.ts': `/** Doc. */\nexport { a, type B } from './a.ts';\nexport type * from './c.ts'\nexport * as d from './d.ts'\n`
    },
    undefined
  ],
  ['an unfinished thing', unfinished, { 'node/a.ts': `x()\n/*\n * TODO: later */` }, /names no issue/],
  ['an unfinished thing with an issue', unfinished, { 'node/a.ts': `// TODO #12: later\n// FIXME(#3)` }, undefined],
  ['a focused test', focused, { 'test/a.spec.ts': `it.only('x', f)` }, /it\.only/],
  ['a skipped suite', focused, { 'test/a.spec.ts': `describe.skip('x', f)` }, /describe\.skip/],
  ['an x-ed test', focused, { 'test/a.spec.ts': `xit('x', f)` }, /xit/],
  ['a test that skips itself at run time', focused, { 'test/a.spec.ts': 'this.skip(); reader.skip()' }, undefined]
]
