/** A separate process: prints the figures of the file beside `rows.ts` named by `argv[2]`, as JSON. */
const { run } = (await import(new URL(`../${process.argv[2]}`, import.meta.url).href)) as {
  run(): Promise<Record<string, number>>
}
process.stdout.write(JSON.stringify(await run()))
