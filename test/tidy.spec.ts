import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { FILE_LINES_WARN, fileLength, focused, long, topLevel, unfinished } from './helpers/habits.ts'
import { barrels, cycles, type Files, layers, read, type Violation, rooms } from './helpers/layers.ts'
import { loadedPackages } from './helpers/loaded-packages.ts'
import { planted } from './helpers/planted.ts'
import { seams } from './helpers/seams.ts'

const ROOT = resolve(import.meta.dirname, '..')
const FOLDERS = ['lib', 'protocols', 'node', 'client', 'test', 'docs']
const TOP_LEVEL = {
  must: [
    ...FOLDERS,
    ...'.ci README.md LICENSE CHANGELOG.md package.json package-lock.json tsconfig.json tsconfig.build.json'.split(' ')
  ],
  may: [
    ...'CONTRIBUTING.md SECURITY.md Dockerfile compose.yaml .dockerignore .git .gitignore .gitattributes'.split(' '),
    ...'.editorconfig .npmrc .mocharc.json .oxlintrc.json biome.json knip.json'.split(' ')
  ]
}

describe('tidy', () => {
  const rules = { layers, rooms, seams, cycles, barrels, fileLength, unfinished, focused }
  const files = readTree([...FOLDERS, '.ci'])
  const sources = read(files)

  it('sees the whole repository', () => {
    const shipped = [...sources.keys()].filter((path) => /^(lib|protocols|node)\//.test(path))
    assert.ok(shipped.length > 30, `saw only ${shipped.length} files of lib/, protocols/ and node/ under ${ROOT}`)
    const imports = [...sources.values()].flatMap((source) => source.imports)
    assert.ok(imports.length > shipped.length, `saw only ${imports.length} imports`)
  })

  for (const [name, rule] of Object.entries(rules)) {
    it(`finds no violation of: ${name}`, () => assertTidy(rule(sources)))
  }

  it('has only known files at the top level', () => {
    assertTidy(
      topLevel(
        readdirSync(ROOT).filter((name) => !isIgnored(name)),
        TOP_LEVEL
      )
    )
  })

  // Each takes several megabytes in every idle node.
  it('starts a node without what only some of its work needs', () => {
    const loaded = loadedPackages(sources, 'node/run.ts')
    assert.ok(loaded.has('fastify') && loaded.has('libp2p'), 'it saw the imports of a node')
    const late = ['undici', 'graphql', 'ajv', 'fast-xml-parser', 're2js', 'yauzl', '@modelcontextprotocol/server', 'pg']
    assert.deepEqual(
      late.filter((name) => loaded.has(name)),
      []
    )
  })

  it('warns of files near the length limit', () => {
    const close = long(sources, FILE_LINES_WARN).map(({ path, lines }) => `      ${path}: ${lines} lines`)
    if (close.length > 0) console.warn(`      past ${FILE_LINES_WARN} lines:\n${close.join('\n')}`)
  })
})

/** Tests each rule with a small repository that contains one violation. */
describe('tidy rules', () => {
  for (const [what, rule, files, message] of planted) {
    it(`${message === undefined ? 'allow' : 'catch'} ${what}`, () => {
      const found = rule(read(new Map(Object.entries(files))))
      if (message === undefined) return assertTidy(found)
      assert.match(found.map(print).join('\n'), message)
    })
  }

  it('report the file and the line', () => {
    const files = new Map([['lib/call/a.ts', `/* one\n two */\nconst three = \`\n\`\nimport '../pay/b.ts'`]])
    assert.match(
      layers(read(files)).map(print).join('\n'),
      /^lib\/call\/a\.ts:5: \[layers\] imports lib\/pay\/b\.ts, but /
    )
  })

  it('catch unknown and missing files at the top level', () => {
    const found = topLevel(['lib', 'src'], { must: ['lib', 'LICENSE'], may: [] }).map(print)
    assert.deepEqual(found, [
      'src:1: [top level] has no place at the top of the repository',
      'LICENSE:1: [top level] is missing'
    ])
  })
})

function readTree(folders: string[]): Files {
  const files = new Map<string, string>()
  for (const folder of folders.filter((name) => existsSync(join(ROOT, name)))) {
    const entries = readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    for (const entry of entries.filter((candidate) => candidate.isFile())) {
      const path = join(entry.parentPath, entry.name)
      const name = path.slice(ROOT.length + 1).replaceAll('\\', '/')
      if (/\.[cm]?[jt]sx?$/.test(name) && !name.includes('/built/')) files.set(name, readFileSync(path, 'utf8'))
    }
  }
  return files
}

/** Supports top-level patterns of .gitignore: exact names, a final slash, and `*`. */
function isIgnored(name: string): boolean {
  const patterns = readFileSync(join(ROOT, '.gitignore'), 'utf8')
    .split('\n')
    .filter((line) => /^[^#\s]/.test(line))
  return patterns.some((line) => {
    const pattern = line.trim().replace(/^\/|\/$/g, '')
    return new RegExp(`^${RegExp.escape(pattern).replaceAll('\\*', '.*')}$`).test(name)
  })
}

const print = ({ rule, file, line, message }: Violation) => `${file}:${line}: [${rule}] ${message}`

function assertTidy(violations: Violation[]): void {
  if (violations.length > 0) assert.fail(`\n${violations.map(print).join('\n')}\n`)
}
