/**
 * Makes the fixture of a commit: `node --conditions=development test/upgrade/make.ts <commit>`. The commit's code runs in a
 * separate worktree with this checkout's dependencies. `upgrade.spec.ts` reads the result from `fixtures/<commit>/`.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')
const git = (...args: string[]) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim()

const commit = git('rev-parse', '--short=7', `${process.argv[2] ?? 'HEAD'}^{commit}`)
const worktree = join(mkdtempSync(join(tmpdir(), 'souk-upgrade-')), commit)
try {
  git('worktree', 'add', '--detach', worktree, commit)
  symlinkSync(join(ROOT, 'node_modules'), join(worktree, 'node_modules'))
  cpSync(import.meta.dirname, join(worktree, 'test/upgrade'), {
    recursive: true,
    filter: (path) => !path.endsWith('fixtures')
  })
  const populate = ['--conditions=development', 'test/upgrade/populate.ts']
  const out = join(import.meta.dirname, 'fixtures', commit)
  execFileSync(process.execPath, [...populate, commit, out], { cwd: worktree, stdio: 'inherit' })
  console.log(out)
} finally {
  git('worktree', 'remove', '--force', worktree)
  rmSync(resolve(worktree, '..'), { recursive: true, force: true })
}
