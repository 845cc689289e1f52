/** A credential that may stand in a header, and is still the same behind it (RFC 9110, section 5.5). */
export const HEADER_VALUE = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
