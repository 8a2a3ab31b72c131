import { read } from '../markdown.ts'

/** Copies the file of each `<!-- file: <path in docs/> -->` into the code block below. */
export async function withExamples(page: string): Promise<string> {
  let result = page
  for (const [, path = ''] of page.matchAll(/<!-- file: (\S+) -->/g)) {
    const code = await read(`docs/${path}`)
    const block = new RegExp(`(<!-- file: ${path} -->\\n\`\`\`(?:ts|js)\\n)[^]*?(\`\`\`)`)
    result = result.replace(block, (_, start: string, end: string) => start + code + end)
  }
  return result
}
