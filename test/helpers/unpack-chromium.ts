/** A program that unpacks the browser to the folder in `TMPDIR`. */
import chromium from '@sparticuz/chromium'

await chromium.executablePath()
