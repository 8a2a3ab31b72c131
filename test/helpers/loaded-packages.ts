import { type Sources, target } from './layers.ts'

/** The packages that a file loads at once: through imports that are neither types nor `import()`. */
export function loadedPackages(sources: Sources, from: string): ReadonlySet<string> {
  const packages = new Set<string>()
  const seen = new Set<string>()
  const visit = (file: string): void => {
    if (seen.has(file)) return
    seen.add(file)
    for (const imported of sources.get(file)?.imports ?? []) {
      if (imported.typeOnly || imported.kind === 'dynamic' || imported.kind === 'url') continue
      const to = target(file, imported)
      if (to !== undefined) visit(to)
      else packages.add(packageOf(imported.specifier ?? ''))
    }
  }
  visit(from)
  return packages
}

const packageOf = (specifier: string): string => /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? ''
