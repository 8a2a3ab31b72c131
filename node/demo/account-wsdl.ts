export const ACCOUNT_NAMESPACE = 'urn:souk:demo:account'

const TYPES = `<xs:schema targetNamespace="${ACCOUNT_NAMESPACE}" elementFormDefault="qualified">
      <xs:element name="getBalance">
        <xs:complexType>
          <xs:sequence>
            <xs:element name="accountId" type="xs:string"/>
          </xs:sequence>
        </xs:complexType>
      </xs:element>
      <xs:element name="getBalanceResponse">
        <xs:complexType>
          <xs:sequence>
            <xs:element name="accountId" type="xs:string"/>
            <xs:element name="balance" type="xs:decimal"/>
            <xs:element name="currency" type="tns:Currency"/>
            <xs:element name="asOf" type="xs:dateTime"/>
          </xs:sequence>
        </xs:complexType>
      </xs:element>
      <xs:element name="getTransactions">
        <xs:complexType>
          <xs:sequence>
            <xs:element name="accountId" type="xs:string"/>
            <xs:element name="limit" type="tns:Limit" minOccurs="0" default="5"/>
          </xs:sequence>
        </xs:complexType>
      </xs:element>
      <xs:element name="getTransactionsResponse">
        <xs:complexType>
          <xs:sequence>
            <xs:element name="accountId" type="xs:string"/>
            <xs:element name="transaction" type="tns:Transaction" minOccurs="0" maxOccurs="unbounded"/>
          </xs:sequence>
        </xs:complexType>
      </xs:element>
      <xs:element name="AccountNotFound">
        <xs:complexType>
          <xs:sequence>
            <xs:element name="accountId" type="xs:string"/>
            <xs:element name="hint" type="xs:string"/>
          </xs:sequence>
        </xs:complexType>
      </xs:element>
      <xs:complexType name="Transaction">
        <xs:sequence>
          <xs:element name="id" type="xs:long"/>
          <xs:element name="bookedOn" type="xs:date"/>
          <xs:element name="amount" type="xs:decimal"/>
          <xs:element name="description" type="xs:string"/>
        </xs:sequence>
      </xs:complexType>
      <xs:simpleType name="Currency">
        <xs:restriction base="xs:string">
          <xs:enumeration value="USD"/>
          <xs:enumeration value="EUR"/>
          <xs:enumeration value="CHF"/>
        </xs:restriction>
      </xs:simpleType>
      <xs:simpleType name="Limit">
        <xs:restriction base="xs:int">
          <xs:minInclusive value="1"/>
          <xs:maxInclusive value="20"/>
        </xs:restriction>
      </xs:simpleType>
    </xs:schema>
`

/** The WSDL of the demo’s account service at `address`. */
export function accountWsdl(address: string): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<wsdl:definitions name="AccountService" targetNamespace="${ACCOUNT_NAMESPACE}" xmlns:tns="${ACCOUNT_NAMESPACE}"
    xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/"
    xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <wsdl:types>
    ${TYPES}  </wsdl:types>
  ${message('getBalance', 'getBalance')}
  ${message('getBalanceResponse', 'getBalanceResponse')}
  ${message('getTransactions', 'getTransactions')}
  ${message('getTransactionsResponse', 'getTransactionsResponse')}
  ${message('AccountNotFoundFault', 'AccountNotFound')}
  <wsdl:portType name="Account">
    ${operation('getBalance', 'The current balance of an account.')}
    ${operation('getTransactions', 'The latest transactions of an account, newest first.')}
  </wsdl:portType>
  <wsdl:binding name="AccountSoap" type="tns:Account">
    <soap:binding style="document" transport="http://schemas.xmlsoap.org/soap/http"/>
    ${bound('getBalance')}
    ${bound('getTransactions')}
  </wsdl:binding>
  <wsdl:service name="AccountService">
    <wsdl:port name="AccountSoap" binding="tns:AccountSoap">
      <soap:address location="${address}"/>
    </wsdl:port>
  </wsdl:service>
</wsdl:definitions>
`
}

function message(name: string, element: string): string {
  return `<wsdl:message name="${name}"><wsdl:part name="parameters" element="tns:${element}"/></wsdl:message>`
}

function operation(name: string, documentation: string): string {
  return `<wsdl:operation name="${name}">
      <wsdl:documentation>${documentation}</wsdl:documentation>
      <wsdl:input message="tns:${name}"/>
      <wsdl:output message="tns:${name}Response"/>
      <wsdl:fault name="notFound" message="tns:AccountNotFoundFault"/>
    </wsdl:operation>`
}

function bound(name: string): string {
  return `<wsdl:operation name="${name}">
      <soap:operation soapAction="${ACCOUNT_NAMESPACE}/${name}"/>
      <wsdl:input><soap:body use="literal"/></wsdl:input>
      <wsdl:output><soap:body use="literal"/></wsdl:output>
      <wsdl:fault name="notFound"><soap:fault name="notFound" use="literal"/></wsdl:fault>
    </wsdl:operation>`
}
