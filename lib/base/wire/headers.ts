import { type Field, type FieldType, list, text } from './field.ts'
import { message, nested } from './message.ts'

export const HEADER = message('Header', 'A header field.', {
  name: text(1, 'Lower case. A name may repeat.'),
  value: text(2)
})

const NAME_KEY = 10
const VALUE_KEY = 18

type Pair = readonly [name: string, value: string]

/** `HEADER` as a pair. Each call has several, so they are read and written without the table, which costs 5% of a call's frames. */
const PAIR: FieldType<Pair> = {
  ...nested(HEADER, 0).type,
  empty: undefined,
  isEmpty: () => false,
  write(writer, key, [name, value]) {
    const start = writer.open(key)
    if (name !== '') writer.text(NAME_KEY, name)
    if (value !== '') writer.text(VALUE_KEY, value)
    writer.close(start)
  },
  read(reader, limit) {
    const end = reader.end(limit)
    let [name, value] = ['', '']
    while (reader.at < end) {
      const key = reader.number()
      if (key === NAME_KEY) name = reader.text()
      else if (key === VALUE_KEY) value = reader.text()
      else reader.skip(key)
    }
    if (reader.at !== end) throw new RangeError('A field is longer than its message.')
    return [name, value]
  }
}

/** Only the size of a frame limits their number here. The ingress and the API's adapter limit their bytes. */
export const headers = (number: number): Field<Pair, 'list'> =>
  list({ ...text(number), type: PAIR }, Number.MAX_SAFE_INTEGER)
