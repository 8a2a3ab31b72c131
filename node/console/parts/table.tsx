import type { ReactNode } from 'react'

export interface Column<Row> {
  readonly title: string
  /** The first column is the row header. */
  readonly cell: (row: Row) => ReactNode
  /** True to align numbers at the end of the cell. */
  readonly isNumber?: boolean
}

interface TableProps<Row> {
  /** Accessible name of the table. */
  readonly caption: string
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
}

export function Table<Row>({ caption, columns, rows, keyOf }: TableProps<Row>) {
  const [first, ...others] = columns
  if (first === undefined) return null
  return (
    <section className="table-wrap" aria-label={caption} tabIndex={0}>
      <table>
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" className={isNumber === true ? 'end' : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              <th scope="row">{first.cell(row)}</th>
              {others.map(({ title, cell, isNumber }) => (
                <td key={title} className={isNumber === true ? 'end' : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
