#!/usr/bin/perl
# A small SMSC by an implementation that is not ours and not npm's: Net::SMPP (Debian: libnet-smpp-perl).
# Says "port N", then a line per event. Every message that asks for it gets a receipt, by turns as text alone, with
# optional parameters besides, and as a failure.
use strict;
use warnings;
use Net::SMPP;

$| = 1;
$SIG{__WARN__} = sub { };    # the module tells every closed connection
my $listener = Net::SMPP->new_listen('127.0.0.1', port => 0, smpp_version => 0x34) or die "cannot listen: $!";
print 'port ', $listener->sockport, "\n";
my $number = 0;

while (my $smsc = $listener->accept) {
    $smsc->set_version(0x34);
    while (my $pdu = $smsc->read_pdu) {
        my $name = Net::SMPP::pdu_tab->{ $pdu->{cmd} }{cmd};
        if ($name eq 'bind_transceiver') {
            my $status = $pdu->{password} eq 'secret' ? 0 : 0x0e;
            print "bind $pdu->{system_id} ", ($status ? 'refused' : 'ok'), "\n";
            $smsc->bind_transceiver_resp(seq => $pdu->{seq}, status => $status, system_id => 'perl');
        }
        elsif ($name eq 'submit_sm') { submitted($smsc, $pdu) }
        elsif ($name eq 'enquire_link') { $smsc->enquire_link_resp(seq => $pdu->{seq}) }
        elsif ($name eq 'deliver_sm_resp') { print "acknowledged $pdu->{seq} $pdu->{status}\n" }
        elsif ($name eq 'unbind') {
            $smsc->unbind_resp(seq => $pdu->{seq});
            print "unbind\n";
            last;
        }
    }
    close $smsc;
}

sub submitted {
    my ($smsc, $pdu) = @_;
    if ($pdu->{destination_addr} =~ /^1999/) {    # a number this SMSC refuses
        $smsc->submit_sm_resp(seq => $pdu->{seq}, status => 0x0b, message_id => '');
        return;
    }
    my $id = sprintf 'perl-%04d', ++$number;
    my $payload = defined $pdu->{message_payload} ? $pdu->{message_payload} : '';
    print join(' ', 'submit', $id, $pdu->{source_addr_ton}, $pdu->{source_addr_npi}, $pdu->{source_addr} || '-',
        $pdu->{dest_addr_ton}, $pdu->{dest_addr_npi}, $pdu->{destination_addr}, $pdu->{esm_class},
        $pdu->{registered_delivery}, $pdu->{data_coding}, unpack('H*', $pdu->{short_message}) || '-',
        unpack('H*', $payload) || '-'), "\n";
    $smsc->submit_sm_resp(seq => $pdu->{seq}, message_id => $id);
    return unless $pdu->{registered_delivery} & 1;
    my ($stat, $err) = $number % 3 == 2 ? ('UNDELIV', '011') : ('DELIVRD', '000');
    my @parameters = $number % 3 == 1 ? (receipted_message_id => "$id\0", message_state => pack('C', 2)) : ();
    $smsc->deliver_sm(
        async => 1,
        source_addr => $pdu->{destination_addr},
        destination_addr => $pdu->{source_addr},
        esm_class => 0x04,
        data_coding => 0,
        short_message => "id:$id sub:001 dlvrd:001 submit date:2611150459 done date:261115050007 stat:$stat err:$err text:x",
        @parameters,
    );
}
