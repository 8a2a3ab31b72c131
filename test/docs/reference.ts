/**
 * The generated parts of the documentation. `test/docs/docs.spec.ts` compares the files with the code; `npm run docs` writes
 * them.
 */
import { readdir, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { PAGE as RELIABILITY, reliabilityPage } from '../faults/figures.ts'
import { read, ROOT } from './markdown.ts'
import { adminPage } from './pages/admin.ts'
import { cliPage } from './pages/cli.ts'
import { configurationPage } from './pages/configuration.ts'
import { errorsPage } from './pages/errors.ts'
import { eventsPage } from './pages/events.ts'
import { withExamples } from './pages/examples.ts'
import { ingressPage } from './pages/ingress.ts'
import { limitsPage } from './pages/limits.ts'
import { logsPage } from './pages/logs.ts'
import { metricsPage } from './pages/metrics.ts'
import { protoFiles } from './pages/proto.ts'
import { statesPage } from './pages/states.ts'
import { vectorFiles } from './vectors/files.ts'

/** Maps paths in the repository to the expected text. */
export async function referencePages(): Promise<Map<string, string>> {
  const pages = new Map([
    [RELIABILITY, await reliabilityPage()],
    ['docs/reference/admin-api.md', adminPage()],
    ['docs/reference/cli.md', await cliPage()],
    ['docs/reference/configuration.md', await configurationPage()],
    ['docs/reference/errors.md', errorsPage()],
    ['docs/reference/events.md', await eventsPage()],
    ['docs/reference/ingress-api.md', await ingressPage()],
    ['docs/reference/limits.md', await limitsPage()],
    ['docs/reference/logs.md', logsPage()],
    ['docs/reference/metrics.md', metricsPage()],
    ['docs/reference/states.md', statesPage()],
    ...protoFiles()
  ])
  for (const path of await markdownPaths()) {
    if (pages.has(path)) continue
    const page = await read(path)
    if (page.includes('<!-- file: ')) pages.set(path, await withExamples(page))
  }
  return pages
}

/** Every page of the repository. */
export async function markdownPaths(): Promise<string[]> {
  const docs = await readdir(resolve(ROOT, 'docs'), { recursive: true })
  const pages = docs.filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)
  return ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', ...pages.toSorted()]
}

if (import.meta.main) {
  for (const [path, text] of [...(await referencePages()), ...(await vectorFiles())])
    await writeFile(resolve(ROOT, path), text)
}
