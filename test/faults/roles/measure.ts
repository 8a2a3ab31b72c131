/** A process of its own: prints the figures of the file beside `rows.ts` that `argv[2]` names, as JSON. */
const { run } = (await import(new URL(`../${process.argv[2]}`, import.meta.url).href)) as {
  run(): Promise<Record<string, number>>
}
process.stdout.write(JSON.stringify(await run()))
