import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { commandsOf, problemOf } from './commands.ts'
import { anchor, read, ROOT } from './markdown.ts'
import { commandTree } from './pages/cli.ts'
import { allLimits, limitsIn } from './pages/limits.ts'
import { markdownPaths, referencePages } from './reference.ts'

describe('the documentation', () => {
  let pages: ReadonlyMap<string, string>

  before(async () => {
    pages = new Map(await Promise.all((await markdownPaths()).map(async (path) => [path, await read(path)] as const)))
  })

  it('has generated parts that match the code', async () => {
    for (const [path, page] of await referencePages())
      assert.equal(pages.get(path) ?? (await read(path)), page, `run: npm run docs (${path})`)
  })

  it('gives each limit a short reason of its own', async () => {
    const limits = await allLimits()
    assert.ok(limits.length > 500, `saw only ${limits.length} limits`)
    const reasons = new Map<string, string>()
    for (const { name, reason } of limits) {
      assert.notEqual(reason, '', `${name} has no comment right above it`)
      assert.ok(reason.split(' ').length <= 26, `${name}: shorten its reason`)
      assert.equal(reasons.get(reason), undefined, `${name} repeats a reason`)
      reasons.set(reason, name)
    }
  })

  it('takes the reason of a limit from the comment right above it only', () => {
    const source =
      '/** First. */\nexport const A = 1\nexport const B = 2\n\n/**\n * Third,\n * long.\n */\nexport const C = 3'
    assert.deepEqual(
      limitsIn(source).map(({ reason }) => reason),
      ['First.', '', 'Third, long.']
    )
  })

  it('has only TypeScript from files of docs/examples', () => {
    for (const [path, page] of pages) {
      const blocks = [...page.matchAll(/^(.*)\n```(?:ts|typescript|js|javascript)\n/gm)]
      for (const [, before] of blocks) assert.match(before ?? '', /^<!-- file: examples\/[\w-]+\.m?[tj]s -->$/, path)
    }
  })

  it('has no broken links', async () => {
    const anchors = new Map<string, readonly string[]>()
    let seen = 0
    for (const [path, page] of pages) {
      for (const target of linksOf(page)) {
        seen++
        const [file = '', fragment] = target.split('#')
        const at = file === '' ? resolve(ROOT, path) : resolve(ROOT, dirname(path), file)
        assert.ok(await stat(at).catch(() => undefined), `${path}: ${target}`)
        if (fragment === undefined) continue
        const known = anchors.get(at) ?? anchorsOf(await read(at))
        anchors.set(at, known)
        assert.ok(known.includes(fragment), `${path}: ${target}`)
      }
    }
    assert.ok(seen > 100, `saw ${seen}`)
  })

  it('links every page from the map of docs/, directly or through others', () => {
    const reached = new Set(['docs/README.md'])
    for (const path of reached) {
      for (const target of linksOf(pages.get(path) ?? '')) {
        const file = resolve(ROOT, dirname(path), target.split('#')[0] ?? '').slice(ROOT.length + 1)
        if (file.startsWith('docs/') && pages.has(file)) reached.add(file)
      }
    }
    assert.deepEqual(
      [...pages.keys()].filter((path) => path.startsWith('docs/') && !reached.has(path)),
      []
    )
  })

  it('shows only valid command lines', async () => {
    const tree = await commandTree()
    const wrong: string[] = []
    let seen = 0
    for (const [path, page] of pages) {
      // The first page is generated from the command tree; the second has command lines of earlier versions.
      if (path === 'docs/reference/cli.md' || path === 'CHANGELOG.md') continue
      for (const command of commandsOf(page)) {
        seen++
        const problem = problemOf(command, tree)
        if (problem !== undefined) wrong.push(`${path}: ${command.text}: ${problem}`)
      }
    }
    assert.deepEqual(wrong, [])
    assert.ok(seen > 100, `saw ${seen}`)
  })
})

describe('the check of command lines', () => {
  let tree: Awaited<ReturnType<typeof commandTree>>
  const wrong = (text: string) => problemOf({ text, isWhole: true }, tree)

  before(async () => {
    tree = await commandTree()
  })

  it('accepts valid command lines', () => {
    for (const text of [
      'souk up --network dev --demo-key a b',
      'souk --profile x api show <name@provider id> --json',
      `souk call bb-sse-ticker '{"symbol": "BTC", "interval": "1m"}'`,
      'souk api register …'
    ]) {
      assert.equal(wrong(text), undefined, text)
    }
  })

  it('reports invalid command lines', () => {
    assert.match(wrong('souk apis list') ?? '', /no command apis/)
    assert.match(wrong('souk key issue --prize 3') ?? '', /no option --prize/)
    assert.match(wrong('souk api register --name a') ?? '', /--protocol is missing/)
    assert.match(wrong('souk payout set') ?? '', /<address> is missing/)
    assert.match(wrong('souk status now') ?? '', /too many/)
  })
})

/** Targets of a page's links within the repository. */
function linksOf(page: string): string[] {
  const text = page.replaceAll(/^```[^]*?^```/gm, '').replaceAll(/`[^`\n]*`(?!\])/g, '')
  return [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, target = '']) => target)
}

/** The anchors as GitHub names them. A repeated heading gets a number. */
function anchorsOf(page: string): readonly string[] {
  const names = [...page.replaceAll(/^```[^]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => anchor(text))
  return names.map((name, i) => {
    const before = names.slice(0, i).filter((each) => each === name).length
    return before === 0 ? name : `${name}-${before}`
  })
}
