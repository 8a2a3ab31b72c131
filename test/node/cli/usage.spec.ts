import assert from 'node:assert/strict'
import { chmod, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createProgram, main } from '../../../node/cli/program.ts'
import { type SoukHome, soukHome } from '../../helpers/souk-home.ts'
import { testTerminal } from '../../helpers/test-terminal.ts'

/** Prints each loaded module to stderr. */
const TRACE = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  registerHooks({ resolve(specifier, context, next) { const found = next(specifier, context); process._rawDebug(found.url); return found } })
`)}`

const AGED = `data:text/javascript,${encodeURIComponent(`
  Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.19.0' } })
  Object.defineProperty(process, 'version', { value: 'v20.19.0' })
`)}`

describe('souk command line', () => {
  let home: SoukHome

  before(async () => {
    home = await soukHome()
  })
  after(() => home.close())

  it('shows its help without loading modules of a node', async () => {
    const { code, stdout, stderr } = await home.asProcess.run('--help', [], { preload: TRACE })
    assert.equal(code, 0)
    for (const command of ['up', 'api', 'key', 'search', 'call', 'status', 'peers', 'doctor', 'provider', 'demo']) {
      assert.match(stdout, new RegExp(`^  ${command} `, 'm'))
    }
    assert.match(stderr, /commander/)
    assert.doesNotMatch(
      stderr,
      /node_modules\/(@libp2p|libp2p|fastify|zod|undici)\/|(?<!commander)\/lib\/|node\/run\.ts/
    )
  })

  it('loads no command but the one that it runs', async () => {
    const { code, stderr } = await home.asProcess.run('--profile none up --help', [], { preload: TRACE })
    assert.equal(code, 0)
    const loaded = [...stderr.matchAll(/\/cli\/(?!terminal\/)\w+\/([a-z-]+)-command\.ts$/gm)].map(([, name]) => name)
    assert.deepEqual([...new Set(loaded)], ['up'])
  })

  it('has an error in JSON for a group without its command', async () => {
    for (const line of ['--json books', 'books --json', '--json', '--json api']) {
      const { code, stdout, stderr } = await home.run(line)
      assert.deepEqual([code, stdout], [64, ''])
      const { error } = JSON.parse(stderr) as { error: { code: string; what: string; try: string } }
      assert.equal(error.code, 'usage')
      assert.match(error.what, /^Name a command of souk( books| api)?: /)
      assert.match(error.try, /^souk( books| api)? --help$/)
    }
    assert.match((await home.run('books')).stderr, /^Usage: souk books/)
    assert.match((await home.run('--json books --help')).stdout, /^Usage: souk books/)
  })

  it('has a help that fits a narrow terminal', async () => {
    for (const columns of [40, 60]) {
      for (const words of [['books'], ['api', 'register'], ['up']]) {
        const terminal = testTerminal({ isTerminal: true, columns })
        assert.equal(await main([...words, '--help'], terminal), 0)
        const [described = ''] = terminal.stdout().split('Examples:')
        const long = described.split('\n').filter((text) => text.length > columns && !/^ {2}\S+( <\S+)?$/.test(text))
        assert.deepEqual(long, [])
      }
    }
  })

  it('finds each command alone', async () => {
    const { program } = await createProgram(testTerminal())
    const names = program.commands.map((each) => each.name())
    assert.ok(names.length > 40)
    for (const name of names.filter((each) => each !== 'help')) {
      const alone = await createProgram(testTerminal(), name)
      assert.deepEqual(
        alone.program.commands.map((each) => each.name()),
        [name, 'help']
      )
      assert.equal(alone.program.commands[0]?.helpInformation(), program.find([name]).helpInformation())
    }
  })

  it('shows its version', async () => {
    const { code, stdout } = await home.run('--version')
    assert.equal(code, 0)
    assert.match(stdout, /^\d+\.\d+\.\d+\S*\n$/)
  })

  it('groups the commands, and starts each error with its own name', async () => {
    const { stdout } = await home.run('--help')
    const headings = [...stdout.matchAll(/^(\w+):$/gm)].map(([, heading]) => heading)
    assert.deepEqual(headings.slice(-5), ['Sell', 'Buy', 'Money', 'Node', 'Examples'])
    const wrong = ['sell http://x/ --nmae y', 'serach', 'call', 'api nothing', 'sell http://x/ --price cheap']
    for (const line of wrong) {
      const { code, stderr } = await home.run(line)
      assert.equal(code, 64, line)
      assert.match(stderr, /^souk: /, line)
    }
    assert.match(
      (await home.run('sell http://x/ --nmae y')).stderr,
      /^souk: Unknown option '--nmae'\. Did you mean --name\?$/m
    )
  })

  it('suggests a command after a typing mistake, and exits 64', async () => {
    const { code, stdout, stderr } = await home.asProcess.run('statsu')
    assert.equal(code, 64)
    assert.equal(stdout, '')
    assert.match(stderr, /Did you mean status\?/)
  })

  it('names a mistyped option, command or profile as what it is', async () => {
    await mkdir(join(home.directory, 'shop'), { mode: 0o700 })
    const wrong: Array<readonly [string, RegExp]> = [
      [
        'api check --protocl rest',
        /^souk: Unknown option '--protocl'\. Did you mean --protocol\?\nTry: souk api check --help\n$/
      ],
      ['key issue --dayly-cap=3', /Unknown option '--dayly-cap=3'\. Did you mean --daily-cap\?/],
      ['--jsn status', /Unknown option '--jsn'\. Did you mean --json\?/],
      ['key list -x', /Unknown option '-x'\.\nTry: souk key list --help/],
      ['api lits', /Unknown command 'lits'\. Did you mean list\?\nTry: souk api --help/],
      ['subscriptions lst', /Unknown command 'lst'\. Did you mean list\?\nTry: souk subscriptions --help/],
      ['console browser', /Unknown command 'browser'\. Did you mean browsers\?/],
      ['key issue extra', /Too many arguments for 'issue'/],
      ['help kye', /Unknown command 'kye'\. Did you mean key\?/],
      ['help key rotat', /Unknown command 'rotat'\. Did you mean rotate\?\nTry: souk key --help/],
      ['--profile shpo status', /No node is running on the profile "shpo"\.\nDid you mean shop\?\nTry: /],
      ['--profile shpo up --no-input', /Did you mean shop\?/]
    ]
    for (const [line, message] of wrong) {
      const { code, stdout, stderr } = await home.run(line)
      assert.deepEqual([code, stdout], [line.startsWith('--profile shpo status') ? 69 : 64, ''], line)
      assert.match(stderr, message)
    }
    const { stderr } = await home.run('api check --protocl rest --json')
    assert.partialDeepStrictEqual(JSON.parse(stderr), { error: { code: 'usage', try: 'souk api check --help' } })
    assert.match((await home.run('help key rotate')).stdout, /^Usage: souk key rotate /)
    assert.doesNotMatch((await home.run('--profile shop status')).stderr, /Did you mean/)
  })

  it('exits 64 for missing or invalid options', async () => {
    const register = ['api', 'register', '--name', 'x', '--endpoint', 'http://127.0.0.1/', '--price']
    const wrong: Array<readonly [string[], RegExp]> = [
      [[...register, '1'], /--protocol/],
      [[...register, '1', '--protocol', 'gRPC'], /REST, SOAP, GraphQL/],
      [[...register, 'cheap', '--protocol', 'rest'], /decimal number/],
      [[...register, '1', '--protocol', 'rest', '--currency', 'EUR'], /USDC/],
      [[...register, '1', '--protocol', 'rest', '--burst', '5'], /--burst needs --rate/],
      [['call', 'x', '{not json'], /not JSON[^]*Try: souk call/]
    ]
    await Promise.all(
      wrong.map(async ([args, message]) => {
        const { code, stderr } = await home.run(args[0] ?? '', args.slice(1))
        assert.equal(code, 64, stderr)
        assert.match(stderr, message)
      })
    )
  })

  it('loads only itself, commander and the protocol descriptors for its help, so that it starts quickly', async () => {
    const hooks = `import { registerHooks } from 'node:module'
      registerHooks({ load(url, context, next) { process.stderr.write(url + '\\n'); return next(url, context) } })`
    const preload = `data:text/javascript,${encodeURIComponent(hooks)}`
    const { code, stderr } = await home.asProcess.run('--help', [], { preload })
    assert.equal(code, 0)
    const loaded = stderr.split('\n').filter((url) => url.startsWith('file:'))
    assert.ok(loaded.length > 20)
    const heavy = loaded.filter(
      (url) =>
        !/\/node_modules\/commander\/|\/node\/(?:cli|profile)\/|\/node\/[\w-]+\.ts$|\/node\/admin\/money\/earnings-columns\.ts$|\/protocols\/(?:\w+\/)?[\w-]+-descriptors?\.ts$/.test(
          url
        )
    )
    assert.deepEqual(heavy, [])
  })

  it('exits 69 if no node runs, and suggests how to start one', async () => {
    const { code, stdout, stderr } = await home.asProcess.run('--profile shop status')
    assert.equal(code, 69)
    assert.equal(stdout, '')
    assert.match(stderr, /No node is running on the profile "shop"\.\nTry: souk --profile shop init\n/)
    const json = await home.run('status --json')
    assert.equal(json.code, 69)
    assert.equal((JSON.parse(json.stderr) as { error: { code: string } }).error.code, 'node_not_running')
  })

  it('exits 64 for a new profile without a network, and 78 for invalid settings', async () => {
    const up = (...args: string[]) => home.run('up', args)
    const [missing, wrong, open] = await Promise.all([
      up('--no-input'),
      up('--network', 'dev', '--p2p-port', 'many'),
      up('--profile', 'public', '--network', 'dev', '--ingress-host', '0.0.0.0')
    ])
    assert.equal(missing.code, 64)
    assert.match(missing.stderr, /needs a network[^]*Try: souk init; or souk up --network dev/)
    assert.equal(wrong.code, 78)
    assert.match(wrong.stderr, /--p2p-port is not valid/)
    assert.equal(open.code, 78)
    assert.match(open.stderr, /--tls-cert/)
  })

  it('exits 77 for a profile that others can read, and suggests chmod', async () => {
    const directory = join(home.directory, 'open')
    await mkdir(directory)
    await chmod(directory, 0o755)
    const { code, stderr } = await home.run('up --profile open --network dev')
    assert.equal(code, 77)
    assert.match(stderr, new RegExp(`Try: chmod 700 ${directory}`))
  })

  it('names the required version on an older Node.js, and exits 78', async () => {
    const { code, stderr } = await home.asProcess.run('status', [], { preload: AGED })
    assert.equal(code, 78)
    assert.match(stderr, /needs Node\.js 24 or newer, and runs on v20\.19\.0\. Try: [^\n]+\n$/)
  })

  it('reports in doctor that no node runs', async () => {
    const { code, stdout } = await home.run('doctor --json')
    assert.equal(code, 1)
    const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: Array<{ name: string; result: string }> }
    assert.equal(ok, false)
    assert.deepEqual(
      checks.filter(({ result }) => result === 'fail').map(({ name }) => name),
      ['running']
    )
  })
})
