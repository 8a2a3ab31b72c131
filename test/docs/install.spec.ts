import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ROOT } from './markdown.ts'

/**
 * Commands that fetch the package `souk` from the registry, where the name belongs to somebody else: `npx souk`, the same as a list of
 * arguments, and an install by name. A path to a tarball is no name.
 */
const RUNNERS =
  /\b(?:npx|bunx|pnpx|(?:npm|pnpm|yarn) (?:exec|dlx|x))\b(?:["',[\]\s:]|args|-y|--yes|-p|--package=?|--)*\bsouk\b/
const INSTALLS =
  /\b(?:npm|pnpm|yarn|bun)\b (?:global )?(?:install|i|add)\b(?: +(?!&)[^\s&|;]+)*? souk(?:@[\w.^~-]+)?(?=[\s`'")]|$)/m
/** Names of files that are not text, or are not ours. */
const NOT_TEXT =
  /\.(?:png|ico|woff2?|gz|tgz|zip|db|sqlite|pdf|wasm)$|^package-lock\.json$|^test\/docs\/install\.spec\.ts$/

const fetchesByName = (text: string): boolean => RUNNERS.test(text) || INSTALLS.test(text)

describe('the ways to install', () => {
  it('never fetch the package by its name, in any committed file', async () => {
    const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
    const paths = files
      .toString()
      .split('\0')
      .filter((path) => path !== '' && !NOT_TEXT.test(path))
    assert.ok(paths.length > 1_000, `saw ${paths.length}`)
    const wrong: string[] = []
    for (const path of paths) {
      const text = await readFile(join(ROOT, path), 'utf8').catch(() => '')
      if (fetchesByName(text)) wrong.push(path)
    }
    assert.deepEqual(wrong, [])
  })

  it('are told apart', () => {
    for (const text of [
      'npm install --global souk',
      'sudo npm i -g souk',
      'npm install souk@0.1.0 viem',
      'npm install viem souk',
      'yarn global add souk',
      'pnpm add -g souk',
      'npx souk demo',
      'npx -y souk mcp',
      'npm exec souk',
      'pnpm dlx souk up',
      'bunx souk',
      '{ "command": "npx", "args": ["-y", "souk", "mcp"] }',
      '"command": "npx",\n      "args": ["-y", "souk"]'
    ]) {
      assert.ok(fetchesByName(text), text)
    }
    for (const text of [
      'npm install --global ./souk-0.1.0.tgz',
      'npm install ../souk/souk-0.1.0.tgz',
      'npm uninstall --global souk',
      'npm ci\nsouk up',
      'npm install @x402/fetch @x402/evm viem',
      '{ "command": "souk", "args": ["mcp"] }',
      'npx mocha test/lib'
    ]) {
      assert.ok(!fetchesByName(text), text)
    }
  })
})
