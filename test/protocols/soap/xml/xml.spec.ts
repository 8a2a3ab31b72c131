import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { XML_DEPTH_MAX, XML_PARTS_MAX, XML_TAG_CHARS_MAX } from '../../../../lib/base/limits/soap.ts'
import { XmlError } from '../../../../protocols/soap/xml/error.ts'
import { decodeXml, isXmlText, normalXml } from '../../../../protocols/soap/xml/text.ts'
import { readXmlDocument, type Span } from '../../../../protocols/soap/xml/document.ts'
import { parseXml } from '../../../../protocols/soap/xml/parse.ts'
import { type XmlElement, attribute, elements, qnameIn, textOf } from '../../../../protocols/soap/xml/tree.ts'
import { fuzzRuns } from '../../../helpers/fuzz-runs.ts'
import { XmlWriter } from '../../../../protocols/soap/xml/write.ts'
import { assertCpuBelow } from '../../../helpers/cpu-time.ts'

const RUNS = fuzzRuns(3_000)

/** The parser for calls, and the one for WSDLs and schemas. Both must reject the same documents. */
const READERS = { parseXml, readXmlDocument }

for (const [reader, read] of Object.entries(READERS)) {
  describe(reader, () => {
    it('resolves namespaces where they are declared', () => {
      const root = read(
        '<a xmlns="urn:1" xmlns:p="urn:2" x="1" p:x="2"><b xmlns=""/><p:c xmlns:p="urn:3" q="p:v"/><p:d/></a>'
      )
      assert.deepEqual([root.namespace, attribute(root, 'x'), attribute(root, 'x', 'urn:2')], ['urn:1', '1', '2'])
      assert.deepEqual(
        elements(root).map(({ namespace }) => namespace),
        ['', 'urn:3', 'urn:2']
      )
      const [, c] = elements(root)
      assert.deepEqual(c && qnameIn(c, ' p:v '), { namespace: 'urn:3', name: 'v' })
      assert.equal(c && qnameIn(c, 'x:v'), undefined)
    })

    it('joins text, references and CDATA, and drops comments', () => {
      const root = read(
        '\ufeff<?xml version="1.0"?>\n<!-- <!DOCTYPE x> -->\n<a>1 &lt;&#233;&#xe9;&amp;amp;<![CDATA[<b>&amp;<!DOCTYPE c>]]><!-- 2 -->3</a>\n'
      )
      assert.equal(textOf(root), '1 <éé&amp;<b>&amp;<!DOCTYPE c>3')
    })

    const refused: ReadonlyArray<readonly [what: string, xml: string]> = [
      ['nothing', ''],
      ['text', 'hello'],
      ['two roots', '<a/><b/>'],
      ['two roots with end tags', '<a></a><b></b>'],
      ['text before the root', 'b<a/>'],
      ['a CDATA section after the root', '<a/><![CDATA[]]>'],
      ['no root', '<!-- a --><?b?>'],
      ['an end tag without a start tag', '<a/></a>'],
      ['an end tag with an attribute', '<a></a b="1">'],
      ['several tags that are not closed', '<a><b><c>'],
      ['half a tag', '<a b="1"'],
      ['a less-than sign alone', '<'],
      ['an empty tag', '<>'],
      ['an attribute without a name', '<a = b="1"/>'],
      ['an attribute without a value', '<a b/>'],
      ['attributes without a space', '<a b="1"c="2"/>'],
      ['attributes in one namespace twice', '<a xmlns:x="u" xmlns:y="u" x:b="1" y:b="2"/>'],
      ['a namespace declared twice', '<a xmlns="u" xmlns="v"/>'],
      ['a less-than sign in an attribute', '<a b="<"/>'],
      ['a comment in an attribute', '<a b="<!-- c -->"/>'],
      ['a reference without an end', '<a>&amp</a>'],
      ['a name that starts with a digit', '<1a/>'],
      ['names of the parser itself', '<#text/>'],
      ['text after the root', '<a/>b'],
      ['tags that do not match', '<a><b></a></b>'],
      ['a tag that is not closed', '<a><b></b>'],
      ['an attribute without quotes', '<a b=c/>'],
      ['an attribute twice', '<a b="1" b="2"/>'],
      ['a document type', '<!DOCTYPE a><a/>'],
      ['a document type within', '<a><!DOCTYPE a></a>'],
      ['an entity that is not declared', '<a>&nbsp;</a>'],
      ['a bare ampersand', '<a b="x & y"/>'],
      ['a reference to no character', '<a>&#0;</a>'],
      ['a reference to half a character', '<a>&#xd800;</a>'],
      ['a reference past all characters', '<a>&#x110000;</a>'],
      ['a control character', '<a>\u0008</a>'],
      ['a prefix that is not declared', '<p:a/>'],
      ['an attribute prefix that is not declared', '<a p:b="1"/>'],
      ['two colons', '<a xmlns:p="u"><p:b:c/></a>'],
      ['a prefix bound to nothing', '<a xmlns:p=""/>'],
      ['a comment without an end', '<a><!-- </a>'],
      ['a CDATA section without an end', '<a><![CDATA[ </a>'],
      ['an instruction without an end', '<a><?b </a>'],
      ['too much depth', '<a>'.repeat(XML_DEPTH_MAX + 10) + '</a>'.repeat(XML_DEPTH_MAX + 10)],
      ['a tag too long', `<a b="${'>'.repeat(XML_TAG_CHARS_MAX)}"/>`]
    ]
    for (const [what, xml] of refused) {
      it(`rejects ${what}`, () => assert.throws(() => read(xml), XmlError))
    }

    it('reads references to control characters', () => {
      assert.equal(textOf(read('<a>1&#x1f;2&#8;&#27;</a>')), '1\u001f2\b\u001b')
      assert.equal(attribute(read('<a b="&#1;"/>'), 'b'), '\u0001')
    })

    it('accepts names in other languages, and those of object members', () => {
      const root = read('<größe xmlns:p="u"><toString/><p:constructor valueOf="1" __proto__="2"/><__proto__/></größe>')
      assert.deepEqual(
        elements(root).map(({ name }) => name),
        ['toString', 'constructor', '__proto__']
      )
      assert.equal(attribute(elements(root)[1] ?? assert.fail(), '__proto__'), '2')
    })

    it('keeps values as written', () => {
      const root = read('<a b=" 007 " c="true">0x10 <d>1e3</d>\u00a0<e> </e></a>')
      assert.deepEqual([attribute(root, 'b'), attribute(root, 'c')], [' 007 ', 'true'])
      assert.deepEqual(
        elements(root).map((element) => textOf(element)),
        ['1e3', ' ']
      )
      assert.deepEqual(root.nodes[0], '0x10 ')
    })

    it('reads references once, and white space of attributes as spaces', () => {
      const root = read('<a b="\t&#9;&lt;\r\n">&amp;lt;&#38;lt;<![CDATA[&lt;]]>\r\n</a>')
      assert.equal(attribute(root, 'b'), ' \t< ')
      assert.equal(textOf(root), '&lt;&lt;&lt;\n')
    })

    it('skips instructions, whatever they hold', () => {
      const root = read(`\n<?xml version='1.0'?><a>x<?php it's "here?>y<??><?>?>z</a><?end '?>\n`)
      assert.deepEqual(root.nodes, ['xyz'])
    })

    it('nests as deep as allowed', () => {
      const deep = '<a>'.repeat(XML_DEPTH_MAX) + '<b/>' + '</a>'.repeat(XML_DEPTH_MAX)
      assert.equal(read(deep).name, 'a')
      assert.throws(() => read(deep.replace('<b/>', '<b></b>')), /nests too deeply/)
    })

    it('rejects hostile documents quickly', async () => {
      const hostile = [
        `<a ${'b="1" '.repeat(200_000)}/>`,
        '<a>'.repeat(300_000),
        `<a b="${'&#x26;'.repeat(200_000)}`,
        '<!--'.repeat(300_000),
        '<?'.repeat(300_000),
        `<a>${'&'.repeat(5_000_000)}</a>`,
        `<a ${' '.repeat(60_000)}b/>`,
        `<a${' b="1"'.repeat(10_000)} <`
      ]
      await assertCpuBelow(2_000, () => {
        for (const xml of hostile) assert.throws(() => read(xml), XmlError)
      })
    })
  })
}

/** Undefined if the document is rejected. */
function outcome<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    assert(error instanceof XmlError, String(error))
    return undefined
  }
}

function plain(node: XmlElement | string): unknown {
  if (typeof node === 'string') return node
  const { namespace, name, attributes, nodes } = node
  return { namespace, name, attributes, nodes: nodes.map(plain) }
}

describe('parseXml', () => {
  it('limits elements and attributes, which take far more memory than their text', () => {
    const document = (parts: number) => `<a>${'<b c=""/>'.repeat((parts - 1) / 2)}</a>`
    assert.equal(parseXml(document(XML_PARTS_MAX - 1)).name, 'a')
    assert.throws(() => parseXml(document(XML_PARTS_MAX + 1)), XmlError)
  })
})

describe('XML', () => {
  const part = fc.constantFrom(
    '<a>',
    '</a>',
    '<b/>',
    '<p:c xmlns:p="u" p:d="e">',
    '</p:c>',
    '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">',

    '</xs:schema>',
    'text',
    ' \n',
    '&lt;',
    '&#65;',
    '&nbsp;',
    '<!-- > -->',
    '<![CDATA[<]]>',
    "<?i '?>",
    '<a b="1"',
    "c='2'",
    '>',
    '"',
    '=',
    '/',
    '&',
    '<',
    '\t',
    'constructor',
    '__proto__',
    '<!',
    ']]>',
    '-->',
    ':'
  )
  const documents = fc
    .tuple(fc.array(part, { maxLength: 12 }), fc.array(part, { maxLength: 2 }))
    .map(([within, after]) => `<r xmlns:p="v">${within.join('')}</r>${after.join('')}`)

  it(`is read the same by both readers, or refused by both: ${RUNS.numRuns}`, () => {
    let taken = 0
    fc.assert(
      fc.property(documents, (xml) => {
        const [one, other] = [parseXml, readXmlDocument].map((read) => outcome(() => plain(read(xml))))
        assert.deepEqual(one, other)
        if (one !== undefined) taken++
      }),
      RUNS
    )
    assert(taken > RUNS.numRuns / 50, `only ${taken} were taken`)
  })

  it('knows where the definitions of a schema stand', () => {
    const spans = new Map<XmlElement, Span>()
    const inner = '<a><x:schema><b/></x:schema></a>'
    const text = `\ufeff<?xml version='1.0'?>\r\n<w xmlns:x="http://www.w3.org/2001/XMLSchema">\r\n<x:schema><!-- é --><c d=">"/>\r\n${inner}</x:schema></w>`
    readXmlDocument(text, { spans })
    const found = [...spans].map(([{ name }, { from, to }]) => [name, normalXml(text).slice(from, to)])
    assert.deepEqual(found, [
      ['c', '<c d=">"/>'],
      ['a', inner]
    ])
  })

  it('names the line of what is wrong in a WSDL or schema', () => {
    const lines = ['<a>\n<b>\n</c></a>', '<a>\n\n<b c="1" c="2"/></a>', '<a>\n\n<p:b p:b:c="1" xmlns:p="u"/></a>']
    for (const xml of [...lines, '<a>\n\n<b>', '<a>\n\n<b d="<"/></a>', '<a>\n\n&</a>', '<a/>\n\n<b/>']) {
      assert.throws(() => readXmlDocument(xml), { name: 'XmlError', message: /\(line 3\)$/ })
    }
  })

  it('reads back everything that it wrote', () => {
    const value = fc.string({ unit: 'binary' }).filter(isXmlText)
    fc.assert(
      fc.property(value, value, fc.webUrl(), (text, quoted, namespace) => {
        const writer = new XmlWriter()
        writer.open('urn:root', 'a')
        writer.open(namespace, 'b')
        writer.attribute('', 'c', quoted)
        writer.attribute(namespace, 'c', text)
        writer.text(text)
        writer.close()
        writer.close()
        const [b] = elements(parseXml(writer.document()))
        assert(b !== undefined)
        assert.deepEqual(
          [b.namespace, textOf(b), attribute(b, 'c'), attribute(b, 'c', namespace)],
          [namespace, text, quoted, text]
        )
      })
    )
  })

  it('rejects text that XML cannot represent', () => {
    const writer = new XmlWriter()
    writer.open('', 'a')
    for (const text of ['\0', '\u001f', '\uffff', '\udc00']) {
      assert.throws(() => writer.text(text), { code: 'invalid_request' })
      assert.throws(() => writer.attribute('', 'b', text), { code: 'invalid_request' })
    }
  })

  it('detects the charset by mark, transport or declaration', () => {
    const latin = Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><a>é</a>', 'latin1')
    assert.match(decodeXml(latin), /é/)
    assert.match(decodeXml(Buffer.from('<a>é</a>', 'latin1'), 'text/xml; charset="ISO-8859-1"'), /é/)
    assert.match(decodeXml(Buffer.from('\ufeff<a>é</a>', 'utf16le')), /é/)
    assert.match(decodeXml(Buffer.from('<a>é</a>', 'utf16le')), /é/)
    assert.throws(() => decodeXml(Buffer.from('<a>é</a>', 'latin1')), XmlError)
  })

  it('prefers the declaration of a document to a charset of the transport that does not fit', () => {
    const latin = Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><a>é</a>', 'latin1')
    for (const type of ['text/xml; charset=utf-8', 'text/xml; charset=klingon'])
      assert.match(decodeXml(latin, type), /é/)
    const utf8 = Buffer.from('<?xml version="1.0" encoding="iso-8859-1"?><a>é</a>')
    assert.match(decodeXml(utf8, 'text/xml; charset=utf-8'), /é/)
    assert.throws(() => decodeXml(Buffer.from('<a>é</a>', 'latin1'), 'text/xml; charset=utf-8'), XmlError)
  })

  it('ignores a declaration of UTF-16 in a document with a byte for each character', () => {
    for (const label of ['utf-16', 'UTF-16LE', 'ISO-10646-UCS-2'])
      assert.match(decodeXml(Buffer.from(`<?xml version="1.0" encoding="${label}"?><a>é</a>`)), /é/)
  })
})
