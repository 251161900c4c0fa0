/**
 * How the generated code reads a message, field by field: what `scan` goes by. Nothing is written down
 * twice: the generated reader is made to read from one that gives it nothing and takes notes.
 */
import { Map as MapField, type BinaryReader } from "google-protobuf";
import { Struct } from "google-protobuf/google/protobuf/struct_pb";

export type Kind = "varint" | "double" | "text" | "bytes" | Shape;

export interface Shape {
  readonly fields: ReadonlyMap<number, Kind>;
  /** A map's entry: google-protobuf does not pass over what else is in one, and loses its place. */
  readonly closed?: true;
}

/** What reads one message class, as generated. */
export interface MessageType<Request> {
  new (): Request;
  deserializeBinaryFromReader(message: Request, reader: BinaryReader): Request;
}

/** `google.protobuf.Value`: the one that a message can nest without end. */
export const value: Shape = valueShape();

/** What is read as a map takes no notes. */
const struct: Shape = structOf(value);
const textEntry: Shape = entryOf("text");

/** No message of the protocol has a field of a higher number. */
const highestField = 100;

export function shapeOf<Request>(type: MessageType<Request>): Shape {
  return notesOf(new type(), (message, reader) =>
    type.deserializeBinaryFromReader(message, reader),
  );
}

function notesOf<Request>(
  message: Request,
  read: (message: Request, reader: BinaryReader) => unknown,
): Shape {
  const fields = new Map<number, Kind>();
  let field = 0;
  const note =
    <T>(kind: Kind, nothing: T) =>
    (): T => {
      fields.set(field, kind);
      return nothing;
    };
  const varint = note("varint", 0);
  const notes = {
    nextField: () => ++field <= highestField,
    isEndGroup: () => false,
    getFieldNumber: () => field,
    skipField: () => undefined,
    readString: note("text", ""),
    readBytes: note("bytes", new Uint8Array()),
    readBool: note("varint", false),
    readInt32: varint,
    readInt64: varint,
    readEnum: varint,
    readDouble: note("double", 0),
    readMessage<Inner>(inner: Inner, readInner: (inner: Inner, reader: BinaryReader) => unknown) {
      if (inner instanceof Struct) fields.set(field, struct);
      else if (inner instanceof MapField) fields.set(field, textEntry);
      else fields.set(field, notesOf(inner, readInner));
    },
  };
  // A way of reading that is not here fails, and every test with it.
  read(message, notes as unknown as BinaryReader);
  return { fields };
}

function valueShape(): Shape {
  const fields = new Map<number, Kind>([
    [1, "varint"],
    [2, "double"],
    [3, "text"],
    [4, "varint"],
  ]);
  const shape: Shape = { fields };
  fields.set(5, structOf(shape));
  fields.set(6, { fields: new Map([[1, shape]]) });
  return shape;
}

/** `google.protobuf.Struct`: a map of values. */
function structOf(content: Shape): Shape {
  return { fields: new Map([[1, entryOf(content)]]) };
}

/** One entry of a map, which is a field of its own each time. */
function entryOf(content: Kind): Shape {
  const fields = new Map<number, Kind>([
    [1, "text"],
    [2, content],
  ]);
  return { fields, closed: true };
}
