/** The size of the largest known public WSDL. */
export const LARGE_OPERATIONS = 1_500

/**
 * A WSDL like those of large services: document/literal, with elements, types and documentation per operation, and shared types.
 * `LARGE_OPERATIONS` of them are about 4 MB.
 */
export function largeWsdl(operations: number): string {
  const each = (write: (n: number) => string) => Array.from({ length: operations }, (_, n) => write(n)).join('')
  return `<?xml version="1.0" encoding="UTF-8"?>
<wsdl:definitions xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns:tns="urn:large:service" xmlns:typ="urn:large:types" xmlns:xsd="http://www.w3.org/2001/XMLSchema" name="LargeService" targetNamespace="urn:large:service">
  <wsdl:types>
    <xsd:schema targetNamespace="urn:large:types" elementFormDefault="qualified">
${SHARED}${each(typeOf)}    </xsd:schema>
    <xsd:schema targetNamespace="urn:large:service" elementFormDefault="qualified">
      <xsd:import namespace="urn:large:types"/>
${each(elementsOf)}    </xsd:schema>
  </wsdl:types>
${each(messagesOf)}  <wsdl:portType name="LargePortType">
${each(abstractOf)}  </wsdl:portType>
  <wsdl:binding name="LargeBinding" type="tns:LargePortType">
    <soap:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>
${each(boundOf)}  </wsdl:binding>
  <wsdl:service name="LargeService">
    <wsdl:port name="LargePort" binding="tns:LargeBinding">
      <soap:address location="{origin}/svc"/>
    </wsdl:port>
  </wsdl:service>
</wsdl:definitions>
`
}

const SHARED = `      <xsd:simpleType name="Status"><xsd:restriction base="xsd:string"><xsd:enumeration value="ACTIVE"/><xsd:enumeration value="SUSPENDED"/><xsd:enumeration value="CLOSED"/></xsd:restriction></xsd:simpleType>
      <xsd:complexType name="Entity" abstract="true"><xsd:sequence><xsd:element name="id" type="xsd:long"/><xsd:element name="status" type="typ:Status" minOccurs="0"/></xsd:sequence></xsd:complexType>
      <xsd:complexType name="Page"><xsd:sequence><xsd:element name="from" type="xsd:int"/><xsd:element name="size" type="xsd:int"/></xsd:sequence></xsd:complexType>
      <xsd:complexType name="Fault"><xsd:sequence><xsd:element name="code" type="xsd:string"/><xsd:element name="text" type="xsd:string"/></xsd:sequence></xsd:complexType>
`

const typeOf = (n: number) => `      <xsd:complexType name="Record${n}">
        <xsd:annotation>
          <xsd:documentation>A record of kind ${n}, with what the service knows about it at the time of the request. What is not known is left out; amounts are in the currency of the account, times in UTC, and records that follow from this one are linked by next. The revision counts up with every change, and is refused where it is not the one on record; see the handbook, chapter ${(n % 40) + 1}.</xsd:documentation>
        </xsd:annotation>
        <xsd:complexContent>
          <xsd:extension base="typ:Entity">
            <xsd:sequence>
              <xsd:element name="name" type="xsd:string"/>
              <xsd:element name="amount" type="xsd:decimal" minOccurs="0"/>
              <xsd:element name="changed" type="xsd:dateTime" nillable="true"/>
              <xsd:element name="tag" type="xsd:string" minOccurs="0" maxOccurs="unbounded"/>
              <xsd:element name="next" type="typ:Record${n}" minOccurs="0"/>
            </xsd:sequence>
            <xsd:attribute name="revision" type="xsd:int" use="required"/>
          </xsd:extension>
        </xsd:complexContent>
      </xsd:complexType>
`

const elementsOf = (n: number) => `      <xsd:element name="findRecord${n}">
        <xsd:complexType>
          <xsd:sequence>
            <xsd:element name="query" type="xsd:string"/>
            <xsd:element name="page" type="typ:Page" minOccurs="0"/>
            <xsd:element name="like" type="typ:Record${n}" minOccurs="0"/>
          </xsd:sequence>
        </xsd:complexType>
      </xsd:element>
      <xsd:element name="findRecord${n}Response">
        <xsd:complexType>
          <xsd:sequence>
            <xsd:element name="total" type="xsd:long"/>
            <xsd:element name="record" type="typ:Record${n}" minOccurs="0" maxOccurs="unbounded"/>
          </xsd:sequence>
        </xsd:complexType>
      </xsd:element>
`

const messagesOf = (n: number) => `  <wsdl:message name="findRecord${n}Request">
    <wsdl:part name="parameters" element="tns:findRecord${n}"/>
  </wsdl:message>
  <wsdl:message name="findRecord${n}Response">
    <wsdl:part name="parameters" element="tns:findRecord${n}Response"/>
  </wsdl:message>
`

const abstractOf = (n: number) => `    <wsdl:operation name="findRecord${n}">
      <wsdl:documentation>Finds records of kind ${n}, page by page.</wsdl:documentation>
      <wsdl:input message="tns:findRecord${n}Request"/>
      <wsdl:output message="tns:findRecord${n}Response"/>
    </wsdl:operation>
`

const boundOf = (n: number) => `    <wsdl:operation name="findRecord${n}">
      <soap:operation soapAction="urn:large:service#findRecord${n}"/>
      <wsdl:input>
        <soap:body use="literal"/>
      </wsdl:input>
      <wsdl:output>
        <soap:body use="literal"/>
      </wsdl:output>
    </wsdl:operation>
`
